// SPDX-License-Identifier: Apache-2.0
// Measures taken once a launch: setting communicators up, a long wait for one rank, choices of the library.
#include "measures.hpp"

#include "communicator/participant.h"

#include <array>
#include <chrono>
#include <string_view>
#include <system_error>
#include <thread>

namespace tollbar::bench {

namespace {

constexpr double set_up_limit_ns = 2e9;

Label mpi_barrier() { return {"MPI_Barrier", mpi_door() == "none" ? "mpi" : "door"}; }

struct Objective {
    tollbar_objective value;
    const char* name;
};

constexpr std::array objectives{Objective{TOLLBAR_OBJECTIVE_LATENCY, "latency"},
                                Objective{TOLLBAR_OBJECTIVE_SKEW, "skew"}, Objective{TOLLBAR_OBJECTIVE_WAIT, "wait"}};

/// As the doors call an MPI in the tuning file: "openmpi-4.1.4" for "Open MPI 4.1.4".
std::string key_of(std::string_view mpi) {
    const std::size_t blank = mpi.rfind(' ');
    const std::string_view name = mpi.substr(0, blank);
    const std::string version(blank == std::string_view::npos ? "" : mpi.substr(blank + 1));
    if (name == "Open MPI") return "openmpi-" + version;
    if (name == "MPICH") return "mpich-" + version;
    if (name == "Intel MPI") return "impi-" + version;
    return "any";
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
    if (!taken.empty()) Record<"set_up">(mpi_barrier(), 0).field("set_up_ns", taken).print();
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
        Record<"late">(mpi_barrier(), 0)
            .field("waited_ns", samples.span.at(0))
            .field("waiter_cpu_ns", used)
            .field("wake_ns", samples.latency.at(0))
            .print();
}

void choose_plans(Rank ranks, const PointToPoint& p2p, double budget_ms) {
    const std::string key = key_of(mpi_version());
    for (const Objective& objective : objectives) {
        tollbar_mpi_options options{};
        options.name = "tollbar bench";
        options.mpi = key.c_str();
        options.objective = objective.value;
        options.budget_ms = budget_ms;
        tollbar_mpi_participant* participant = nullptr;
        if (const int error = tollbar_mpi_join(&p2p.get(), &options, &participant); error != 0)
            throw std::system_error(error, std::generic_category(), "joining");
        Record<"choice">()
            .field("ranks", ranks)
            .field("mpi", key)
            .field("objective", objective.name)
            .field("plan", tollbar_mpi_plan(participant))
            .print();
        tollbar_mpi_arrive_and_wait(participant, nullptr);
        tollbar_mpi_leave(participant);
    }
}

}  // namespace tollbar::bench
