// SPDX-License-Identifier: Apache-2.0
// One visit: all ranks go through one candidate's warm-up, calibration, timed batch and stamped episodes.
// The loops are templates, so that an episode of 26 ns is not measured through a virtual call.
#pragma once

#include "clock.hpp"
#include "crew.hpp"
#include "stamps.hpp"
#include "usage.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace tollbar::bench {

/// How long things may take; the same for every candidate of a launch.
struct Pace {
    double batch_ns;        ///< what a batch is calibrated to
    double cut_ns;          ///< a batch that has taken this long ends at its next chunk
    std::uint64_t most;     ///< episodes in a batch
    std::uint64_t chunk;    ///< episodes between two looks at the clock, at most
    std::uint64_t warm_up;  ///< episodes before a batch
    std::uint64_t stamped;  ///< stamped episodes, at most
};

/// How rank 0 tells everybody, through the barrier under test itself, to end a loop early. Two flags alternate,
/// so that nobody is overtaken: a flag is written again only after an episode that everybody entered after reading it.
class StopFlags {
public:
    /// Rank 0, just before the last episode of chunk `turn`.
    /// Memory order: release, pairs with raised(). A flag that stays down is not written, so reading it stays free.
    void raise(std::uint64_t turn) noexcept { flags_[turn % 2].up.store(true, std::memory_order_release); }

    /// Everybody, just after that episode; all get the same answer.
    bool raised(std::uint64_t turn) const noexcept { return flags_[turn % 2].up.load(std::memory_order_acquire); }

private:
    struct alignas(line_bytes) Flag {
        std::atomic<bool> up{false};
    };
    std::array<Flag, 2> flags_;
};

/// How a loop is cut up: a chunk is the stretch between two looks at the clock.
struct Chunks {
    std::uint64_t episodes;  ///< in all, at most
    std::uint64_t first;     ///< in the first chunk
    std::uint64_t growth;    ///< each chunk is this many times the one before
};

inline Chunks sixteenths(std::uint64_t episodes, const Pace& pace) {
    return {episodes, std::clamp<std::uint64_t>(episodes / 16, 1, pace.chunk), 1};
}

/// Runs episode(i) until all are done or rank 0 finds `limit_ns` passed; returns how many were run, the same on every
/// rank.
template <class Episode>
std::uint64_t run_chunks(Rank rank, Chunks chunks, double limit_ns, StopFlags& flags, Episode&& episode) {
    const Ticks limit = ticks_of(limit_ns);
    const Ticks start = ticks();
    std::uint64_t done = 0;
    std::uint64_t chunk = chunks.first;
    for (std::uint64_t turn = 0; done < chunks.episodes; ++turn, chunk *= chunks.growth) {
        const std::uint64_t last = done + std::min(chunk, chunks.episodes - done) - 1;
        for (; done < last; ++done) episode(done);
        if (rank == 0 && ticks() - start > limit) flags.raise(turn);
        episode(done++);
        if (flags.raised(turn)) break;
    }
    return done;
}

/// What the ranks share during a visit, and what rank 0 found out.
struct Visit {
    Visit(Rank ranks, const Pace& how, std::uint64_t batch)
        : pace(how), meeting(ranks), stamps(ranks, how.stamped), episodes(batch) {}

    const Pace pace;
    Meeting meeting;
    Stamps stamps;

    std::uint64_t episodes;  ///< to be timed; 0: calibrate first
    StopFlags warming, calibrating, settling, timing, stamping;

    double first_ns = 0;  ///< rank 0's time in the very first episode: cold caches, unfaulted pages
    std::uint64_t timed = 0;
    double elapsed_ns = 0;
    Usage usage;
    bool cut = false;
    std::uint64_t stamped = 0;
    Usage stamped_usage;
};

/// What one rank does in a visit. Every rank calls it once, with a seat of the same new barrier; seat.episode()
/// is one use of it.
template <class Seat>
void attend(Rank rank, Seat& seat, Visit& visit) {
    const Pace& pace = visit.pace;
    const bool first_rank = rank == 0;
    const auto once = [&](std::uint64_t) { seat.episode(); };

    Stamp* const row = visit.stamps.row(rank);
    std::fill_n(row, visit.stamps.capacity(), Stamp{});  // brings the row to this CPU

    visit.meeting.meet();
    Ticks start = ticks();
    seat.episode();
    if (first_rank) visit.first_ns = nanoseconds(ticks() - start);
    run_chunks(rank, sixteenths(pace.warm_up, pace), pace.cut_ns / 4, visit.warming, once);

    if (visit.episodes == 0) {
        start = ticks();
        const std::uint64_t tried = run_chunks(rank, {pace.most, 1, 2}, pace.batch_ns / 8, visit.calibrating, once);
        const double period = nanoseconds(ticks() - start) / static_cast<double>(tried);
        visit.meeting.meet();  // everybody has seen that there was something to calibrate
        if (first_rank) {
            const auto fitting = static_cast<std::uint64_t>(pace.batch_ns / std::max(period, 1.0));
            visit.episodes = std::clamp<std::uint64_t>(fitting, 1, pace.most);
        }
        visit.meeting.meet();
        run_chunks(rank, {std::min<std::uint64_t>(pace.warm_up, 10), 1, 1}, pace.cut_ns / 4, visit.settling, once);
    }

    const Usage before = first_rank ? Usage::of_process() : Usage{};
    start = ticks();
    const std::uint64_t timed = run_chunks(rank, sixteenths(visit.episodes, pace), pace.cut_ns, visit.timing, once);
    if (first_rank) {
        visit.elapsed_ns = nanoseconds(ticks() - start);
        visit.usage = Usage::of_process() - before;
        visit.timed = timed;
        visit.cut = timed < visit.episodes;
    }
    // Nobody goes to sleep in the meeting before rank 0 has counted the context switches.
    seat.episode();

    const Usage before_stamps = first_rank ? Usage::of_process() : Usage{};
    const auto stamp = [&](std::uint64_t i) {
        row[i].entry = ticks();
        seat.episode();
        row[i].exit = ticks();
    };
    const std::uint64_t stamped = run_chunks(rank, sixteenths(visit.stamps.capacity(), pace), pace.cut_ns / 2,
                                             visit.stamping, stamp);
    if (first_rank) {
        visit.stamped_usage = Usage::of_process() - before_stamps;
        visit.stamped = stamped;
    }
    seat.episode();
    visit.meeting.meet();  // nobody takes the barrier down while others are inside
}

}  // namespace tollbar::bench
