// SPDX-License-Identifier: Apache-2.0
// One visit: all ranks go through one candidate's warm-up, calibration, timed batch and stamped episodes.
// The loops are templates, so that an episode of 26 ns is not measured through a virtual call.
#pragma once

#include "clock.hpp"
#include "crew.hpp"
#include "options.hpp"
#include "stamps.hpp"
#include "usage.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace tollbar {
struct Workload;
}

namespace tollbar::bench {

class TollBoard;
class Turns;
struct TollVisit;

/// How long things may take; the same for every candidate of a launch.
struct Pace {
    double batch_ns;        ///< what a batch is calibrated to
    double cut_ns;          ///< a batch that has taken this long ends at its next chunk
    std::uint64_t most;     ///< episodes in a batch
    std::uint64_t chunk;    ///< episodes between two looks at the clock, at most
    std::uint64_t warm_up;  ///< episodes before a batch
    std::uint64_t stamped;  ///< stamped episodes, at most

    std::uint64_t isolated = 0;  ///< stamped episodes before each of which everybody meets elsewhere, at most
};

/// How many episodes of that length make a batch.
inline std::uint64_t fitting(double period_ns, const Pace& pace) {
    return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(pace.batch_ns / std::max(period_ns, 1.0)), 1,
                                     pace.most);
}

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

/// The memory that the ranks share while a batch is timed, and what rank 0 found out. Holds no pointers, so it may lie
/// in memory that processes share.
struct Timing {
    const Pace pace;

    std::uint64_t episodes;  ///< to be timed; 0: calibrate first
    StopFlags warming{}, calibrating{}, settling{}, timing{};

    double first_ns = 0;  ///< rank 0's time in the very first episode: cold caches, unfaulted pages
    std::uint64_t timed = 0;
    double elapsed_ns = 0;
    Usage usage{};  ///< of rank 0's process
    bool cut = false;

    double period_ns() const noexcept { return elapsed_ns / static_cast<double>(timed); }
};

/// First episode, warm-up, calibration and the timed batch. Every rank calls it once, with a seat of the same new
/// barrier; seat.episode() is one use of it. meet() is somewhere else to meet. A rank that is a process of its own may
/// have it counted what its batch used.
template <class Seat, class Meet>
void time_batch(Rank rank, Seat& seat, Timing& timing, Meet&& meet, Usage* own = nullptr) {
    const Pace& pace = timing.pace;
    const bool first_rank = rank == 0;
    const bool counts = first_rank || own != nullptr;
    const auto once = [&](std::uint64_t) { seat.episode(); };

    meet();
    Ticks start = ticks();
    seat.episode();
    if (first_rank) timing.first_ns = nanoseconds(ticks() - start);
    run_chunks(rank, sixteenths(pace.warm_up, pace), pace.cut_ns / 4, timing.warming, once);

    if (timing.episodes == 0) {
        start = ticks();
        const std::uint64_t tried = run_chunks(rank, {pace.most, 1, 2}, pace.batch_ns / 8, timing.calibrating, once);
        const double period = nanoseconds(ticks() - start) / static_cast<double>(tried);
        meet();  // everybody has seen that there was something to calibrate
        if (first_rank) timing.episodes = fitting(period, pace);
        meet();
        run_chunks(rank, {std::min<std::uint64_t>(pace.warm_up, 10), 1, 1}, pace.cut_ns / 4, timing.settling, once);
    }

    const Usage before = counts ? Usage::of_process() : Usage{};
    start = ticks();
    const std::uint64_t timed = run_chunks(rank, sixteenths(timing.episodes, pace), pace.cut_ns, timing.timing, once);
    if (first_rank) {
        timing.elapsed_ns = nanoseconds(ticks() - start);
        timing.timed = timed;
        timing.cut = timed < timing.episodes;
    }
    if (counts) {
        const Usage used = Usage::of_process() - before;
        if (first_rank) timing.usage = used;
        if (own != nullptr) *own = used;
    }
    // Nobody goes to sleep in the meeting before rank 0 has counted the context switches.
    seat.episode();
}

/// The memory that the ranks share while episodes are stamped. Holds no pointers either.
struct Stamping {
    StopFlags flags{};
    std::uint64_t stamped = 0;
    std::uint64_t isolated = 0;
    Usage usage{};  ///< of rank 0's process, in the stamped episodes
};

/// The things that the ranks of a visit have in common, as one of their processes sees it.
class Visit {
public:
    Visit(Timing& timed, Stamping& stamped, Stamps& back_to_back, Stamps& one_by_one)
        : timing(timed), stamping(stamped), stamps(back_to_back), isolated(one_by_one) {}
    virtual ~Visit() = default;
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

    /// Somewhere else to meet. Memory order: what anybody did before is visible to everybody after.
    virtual void meet() = 0;

    /// The same, and everybody who has a CPU leaves at about one time. Memory order: as meet().
    virtual void line_up() { meet(); }

    /// The board on which tolls are paid.
    virtual const TollBoard& tolls() = 0;

    /// The note of what its batch used, by a rank that is a process of its own; else null.
    virtual Usage* usage_of(Rank) { return nullptr; }

    Timing& timing;
    Stamping& stamping;
    Stamps& stamps;                      ///< of episodes back to back
    Stamps& isolated;                    ///< of episodes before each of which everybody has met elsewhere
    const Workload* workload = nullptr;  ///< what is done in place of bare episodes (working.hpp)
    const TollVisit* checked = nullptr;  ///< barriers are checked, not measured (tolls.hpp)
    Turns* turns = nullptr;              ///< the turns in which it is done, where a time says how many (turns.hpp)
    Computing computing = Computing::busy;
};

/// Every rank writes its row: in each episode when it came and when it left.
template <class Seat>
auto stamper(Stamps& stamps, Rank rank, Seat& seat) {
    return [row = stamps.row(rank), &seat](std::uint64_t i) {
        row[i].entry = ticks();
        seat.episode();
        row[i].exit = ticks();
    };
}

/// The part of one rank in a visit.
template <class Seat>
void attend(Rank rank, Seat& seat, Visit& visit) {
    const Pace& pace = visit.timing.pace;
    Stamping& stamping = visit.stamping;
    std::fill_n(visit.stamps.row(rank), visit.stamps.capacity(), Stamp{});  // brings the rows to this CPU
    std::fill_n(visit.isolated.row(rank), visit.isolated.capacity(), Stamp{});

    time_batch(
        rank, seat, visit.timing, [&] { visit.meet(); }, visit.usage_of(rank));

    const bool first_rank = rank == 0;
    const Usage before = first_rank ? Usage::of_process() : Usage{};
    const std::uint64_t stamped = run_chunks(rank, sixteenths(pace.stamped, pace), pace.cut_ns / 2, stamping.flags,
                                             stamper(visit.stamps, rank, seat));
    if (first_rank) {
        stamping.usage = Usage::of_process() - before;
        stamping.stamped = stamped;
    }
    seat.episode();
    visit.meet();  // nobody takes the barrier down while others are inside

    if (pace.isolated == 0) return;
    constexpr std::uint64_t least = 3;
    const auto affordable = static_cast<std::uint64_t>(pace.cut_ns / 4 / visit.timing.period_ns());
    const std::uint64_t isolated = std::clamp(affordable, least, std::max(pace.isolated, least));
    const auto stamp = stamper(visit.isolated, rank, seat);
    for (std::uint64_t i = 0; i < isolated; ++i) {
        visit.line_up();
        stamp(i);
    }
    if (first_rank) stamping.isolated = isolated;
    visit.meet();
}

}  // namespace tollbar::bench
