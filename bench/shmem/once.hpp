// SPDX-License-Identifier: Apache-2.0
// What is measured of a split barrier besides its loop: a PE that is away after its post, and computing meanwhile.
#pragma once

#include "json.hpp"
#include "process_crew.hpp"
#include "visit_records.hpp"
#include "working.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace tollbar::bench {

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
    start_record("away", label, 0)
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
    start_record("overlap", label, 0)
        .field("skew_ns", 1e3 * skew_us)
        .field("open_ns", open)
        .field("inside_ns", inside)
        .print();
}

}  // namespace tollbar::bench
