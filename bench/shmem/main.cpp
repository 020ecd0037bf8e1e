// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-shmem: post + wait of every split barrier of OpenSHMEM, beside shmem_barrier_all and MPI_Ibarrier with
// MPI_Wait. PE 0 prints.
#include "process_crew.hpp"
#include "shmem_job.hpp"
#include "split.hpp"
#include "variants.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace tollbar::bench {

namespace {

constexpr std::uint64_t times_away = 3;
constexpr std::uint64_t times_overlapped = 30;
constexpr double chunk_us = 5;  ///< what is computed between two tests

/// PE 0 posts before the others do, and then calls nothing for so long. How long the slowest of the others takes to
/// post and wait.
template <class Barrier>
void measure_away(ProcessCrew& crew, const Pace& pace, const Label& label, Barrier& barrier, std::uint64_t away_ms) {
    const std::unique_ptr<Visit> visit = crew.visit(pace, 1);
    crew.run([&](Rank rank) {
        for (std::uint64_t i = 0; i < times_away; ++i) {
            visit->line_up();
            if (rank != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            Stamp& stamp = visit->stamps.row(rank)[i];
            stamp.entry = ticks();
            barrier.post();
            if (rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(away_ms));
            barrier.wait();
            stamp.exit = ticks();
        }
        visit->meet();
    });
    std::vector<double> released(times_away);
    for (std::uint64_t i = 0; i < times_away; ++i)
        for (Rank rank = 1; rank < crew.ranks(); ++rank) {
            const Stamp& stamp = visit->stamps.row(rank)[i];
            released[i] = std::max(released[i], nanoseconds(stamp.exit - stamp.entry));
        }
    Record<"away">(label, 0)
        .field("away_ns", 1e6 * static_cast<double>(away_ms))
        .field("released_ns", released)
        .print();
}

/// The last PE computes so much longer than the others before it posts; they compute on, in chunks, until a test says
/// that it is over, and give way between chunks where PEs share CPUs. How long that took, and how much of it they were
/// inside post and test and so not free to compute; all of them together.
template <class Barrier>
void measure_overlap(ProcessCrew& crew, const Pace& pace, const Label& label, Barrier& barrier, double skew_us,
                     bool crowded) {
    const std::unique_ptr<Visit> visit = crew.visit(pace, 1);
    const Rank late = crew.ranks() - 1;
    crew.run([&](Rank rank) {
        for (std::uint64_t i = 0; i < times_overlapped; ++i) {
            visit->line_up();
            if (rank == late) compute(skew_us);
            Stamp& stamp = visit->stamps.row(rank)[i];
            stamp.entry = ticks();
            barrier.post();
            Ticks inside = ticks() - stamp.entry;
            for (bool over = false; !over;) {
                compute(chunk_us);
                if (crowded) sched_yield();
                const Ticks began = ticks();
                over = barrier.test();
                stamp.exit = ticks();
                inside += stamp.exit - began;
            }
            visit->isolated.row(rank)[i] = {.entry = 0, .exit = inside};
        }
        visit->meet();
    });
    std::vector<double> open(times_overlapped);
    std::vector<double> inside(times_overlapped);
    for (std::uint64_t i = 0; i < times_overlapped; ++i)
        for (Rank rank = 0; rank < late; ++rank) {
            const Stamp& stamp = visit->stamps.row(rank)[i];
            open[i] += nanoseconds(stamp.exit - stamp.entry);
            inside[i] += nanoseconds(visit->isolated.row(rank)[i].exit);
        }
    Record<"overlap">(label, 0)
        .field("skew_ns", 1e3 * skew_us)
        .field("open_ns", open)
        .field("inside_ns", inside)
        .print();
}

/// A split barrier without anything between its two halves.
template <class Barrier>
class Undivided {
public:
    template <class... Arguments>
    explicit Undivided(const Arguments&... arguments) : barrier_(arguments...) {}

    struct Seat {
        Barrier& barrier;
        void episode() const noexcept {
            barrier.post();
            barrier.wait();
        }
    };
    Seat seat(Rank) noexcept { return {barrier_}; }

private:
    Barrier barrier_;
};

const Label ibarrier{"MPI_Ibarrier", "mpi"};

bool stays(const Roster& roster, const Label& label) {
    return std::any_of(roster.candidates.begin(), roster.candidates.end(), [&](const auto& one) {
        return one->label().name == label.name && one->label().wait == label.wait;
    });
}

/// For the barriers of the roster that are split.
template <class Measure>
void for_each_split(const Roster& roster, const std::vector<Variant>& able, Measure&& measure) {
    if (stays(roster, ibarrier)) {
        IbarrierSplit barrier;
        measure(ibarrier, barrier);
    }
    for (const Variant& variant : able) {
        if (!stays(roster, label_of(variant))) continue;
        VariantSplit barrier(variant);
        measure(label_of(variant), barrier);
    }
}

int measure(Launch& launch, std::uint64_t away_ms, std::uint64_t skew_us) {
    Roster roster;
    roster.add<Undivided<BlockingSplit>>({"shmem_barrier_all", "peer"});
    roster.add<Undivided<IbarrierSplit>>(ibarrier);
    const std::vector<Variant> able = variants(roster.skipped);
    for (const Variant& variant : able) roster.add<Undivided<VariantSplit>>(label_of(variant), variant);
    if (!launch.keeps(roster)) return 0;
    launch.pace.isolated = 50;
    launch.begin(shmem_versions());
    ProcessCrew crew(launch);
    if (launch.options.checks()) return check_roster(launch, crew, roster);
    for_each_split(roster, able, [&](const Label& label, auto& barrier) {
        if (away_ms != 0) measure_away(crew, launch.pace, label, barrier, away_ms);
        if (skew_us != 0)
            measure_overlap(crew, launch.pace, label, barrier, static_cast<double>(skew_us), launch.crowded());
    });
    return measure_roster(launch, crew, roster);
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    std::uint64_t away_ms = 50;
    std::uint64_t skew_us = 100;
    return run({.name = "tollbar-bench-shmem",
                .flags = {{"--away-ms", "MS", "how long a PE calls nothing after its post (default 50; 0: never)",
                           number(away_ms, 0, 10'000)},
                          {"--skew-us", "US", "how late one PE posts while others compute (default 100; 0: never)",
                           number(skew_us, 0, 1'000'000)}},
                .measure = [&](Launch& launch) { return measure(launch, away_ms, skew_us); },
                .join = [] { return std::make_unique<PeJob>(); },
                .launcher = "oshrun"},
               count, words);
}
