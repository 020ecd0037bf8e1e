// SPDX-License-Identifier: Apache-2.0
// What is measured once a launch: setting communicators up, and a long wait for one rank.
#include "once.hpp"

#include "candidates.hpp"
#include "json.hpp"

#include <chrono>
#include <thread>

namespace tollbar::bench {

namespace {

constexpr double set_up_limit_ns = 2e9;

Record start_record(const char* kind) {
    Record record(kind);
    record.field("round", 0).field("name", "MPI_Barrier").field("kind", MpiJob::door() == "none" ? "mpi" : "door");
    record.field("wait", "auto");
    return record;
}

}  // namespace

void measure_set_up(ProcessCrew& crew, const Pace& pace, std::uint64_t communicators) {
    std::vector<double> taken;
    const Ticks began = ticks();
    for (std::uint64_t i = 0; i < communicators; ++i) {
        if (!crew.agree(nanoseconds(ticks() - began) < set_up_limit_ns)) break;
        const std::unique_ptr<Visit> visit = crew.visit(pace, 1);
        crew.run([&](Rank rank) {
            Stamp* const row = visit->stamps.row(rank);
            MPI_Comm comm = MPI_COMM_NULL;
            visit->line_up();
            row->entry = ticks();
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            MPI_Barrier(comm);
            row->exit = ticks();
            visit->meet();
            MPI_Comm_free(&comm);
        });
        taken.push_back(visit->stamps.evaluate(1).span.at(0));
    }
    if (!taken.empty()) start_record("set_up").field("set_up_ns", taken).print();
}

void measure_lateness(ProcessCrew& crew, const Pace& pace, std::uint64_t late_ms) {
    if (late_ms == 0) return;
    Called<Blocking> barrier;
    const std::unique_ptr<Visit> visit = crew.visit(pace, 1);
    const Rank late = crew.ranks() - 1;
    crew.run([&](Rank rank) {
        auto seat = barrier.seat(rank);
        const auto stamp = stamper(visit->stamps, rank, seat);
        seat.episode();
        visit->meet();
        const Usage before = Usage::of_process();
        if (rank == late) std::this_thread::sleep_for(std::chrono::milliseconds(late_ms));
        stamp(0);
        *visit->usage_of(rank) = Usage::of_process() - before;
        visit->meet();
    });
    const Samples samples = visit->stamps.evaluate(1);
    std::vector<double> used;
    for (Rank rank = 0; rank < late; ++rank) used.push_back(visit->usage_of(rank)->cpu_ns);
    if (!samples.violation)
        start_record("late")
            .field("waited_ns", samples.span.at(0))
            .field("waiter_cpu_ns", used)
            .field("wake_ns", samples.latency.at(0))
            .print();
}

}  // namespace tollbar::bench
