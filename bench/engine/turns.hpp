// SPDX-License-Identifier: Apache-2.0
// Turns: each rank computes a fixed amount and then takes part in an episode, for a given time.
#pragma once

#include "clock.hpp"
#include "usage.hpp"
#include "visit.hpp"

#include <tollbar/detail/sync.hpp>
#include <tollbar/models/workload.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>

namespace tollbar::bench {

using namespace detail;

/// So many steps of computing. The same work however often the thread loses its CPU meanwhile.
void take_steps(std::uint64_t steps) noexcept;

/// Steps of computing that the calling thread makes in a microsecond of its CPU time.
double measured_steps_per_us() noexcept;

/// The memory that the ranks of a visit share while turns are timed, and what rank 0 found out. The mean over all turns
/// contains the stalls that a median leaves out.
class Turns {
public:
    Turns(double timed_ns, double per_us) : steps_per_us(per_us), timed_(ticks_of(timed_ns)) {}

    /// Rank 0, after the computing of a turn and before its episode; turns are counted from 0.
    void look(std::uint64_t turn) noexcept {
        constexpr std::uint64_t seldom = 16;  // a look takes as long as a fast episode
        if (!slow_ && turn % seldom != 0) return;
        const Ticks now = ticks();
        if (turn == 0) looked_ = start_ = now;
        slow_ = now - looked_ > (turn - looked_turn_) * ticks_of(slow_ns);
        looked_ = now;
        looked_turn_ = turn;
        if (begun_turn_ == 0) {
            if (turn == 0 || now - start_ < ticks_of(warm_up_ns)) return;
            begun_turn_ = turn;
            before_ = Usage::of_process();
            begun_ = ticks();
        } else if (now - begun_ >= timed_ && turn - begun_turn_ >= fewest) {
            elapsed_ns = nanoseconds(now - begun_);
            usage = Usage::of_process() - before_;
            timed = turn - begun_turn_;
            last_.store(turn, std::memory_order_relaxed);
        }
    }

    /// Everybody, after the episode of a turn; all get the same answer.
    /// Memory order: the barrier that is measured orders rank 0's store before it.
    bool is_last(std::uint64_t turn) const noexcept { return turn >= last_.load(std::memory_order_relaxed); }

    /// The timed turns from last entry to last entry, of their stamps; empty unless they are few and all stamped. Rank
    /// 0's own time says little of a few turns: it may leave an episode long before or after the others.
    std::optional<double> between_ns(const Samples& samples, std::uint64_t stamped) const {
        constexpr std::uint64_t few = 20;
        if (timed >= few || begun_turn_ + timed >= stamped) return std::nullopt;
        const auto first = samples.period.begin() + static_cast<std::ptrdiff_t>(begun_turn_);
        return std::accumulate(first, first + static_cast<std::ptrdiff_t>(timed), 0.0);
    }

    const double steps_per_us;

    alignas(line_bytes) std::uint64_t timed = 0;  ///< turns
    double elapsed_ns = 0;
    Usage usage{};  ///< of rank 0's process

private:
    static constexpr double warm_up_ns = 35e6;  ///< a barrier that learns where it is has most of it behind it then
    static constexpr double slow_ns = 3e3;
    static constexpr std::uint64_t fewest = 3;  ///< turns that are timed, however long they take

    const Ticks timed_;
    Ticks start_ = 0, looked_ = 0, begun_ = 0;
    std::uint64_t looked_turn_ = 0, begun_turn_ = 0;
    bool slow_ = true;
    Usage before_{};
    alignas(line_bytes) std::atomic<std::uint64_t> last_{std::numeric_limits<std::uint64_t>::max()};
};

/// The part of one rank in such a visit. The first turns are stamped, as many as there is room for: they are those of
/// the warm-up, unless a turn is long.
template <class Seat>
void attend_turns(Rank rank, Seat& seat, Visit& visit, Turns& turns) {
    const Workload& workload = *visit.workload;
    const bool computes = workload.sum_us() > 0;
    const auto stamp = stamper(visit.stamps, rank, seat);
    std::fill_n(visit.stamps.row(rank), visit.stamps.capacity(), Stamp{});  // brings the rows to this CPU
    visit.meet();
    std::uint64_t turn = 0;
    for (bool last = false; !last; ++turn) {
        if (computes) take_steps(static_cast<std::uint64_t>(workload.before_us(rank, turn) * turns.steps_per_us));
        if (rank == 0) turns.look(turn);
        if (turn < visit.stamps.capacity())
            stamp(turn);
        else
            seat.episode();
        last = turns.is_last(turn);
    }
    if (rank == 0) visit.stamping.stamped = std::min<std::uint64_t>(turn, visit.stamps.capacity());
    visit.meet();
}

}  // namespace tollbar::bench
