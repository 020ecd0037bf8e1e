// SPDX-License-Identifier: Apache-2.0
// Ranks that compute between barriers: one visit with a workload in place of bare episodes.
#pragma once

#include "visit.hpp"

#include <tollbar/models/workload.hpp>

#include <algorithm>

#include <sched.h>
#include <unistd.h>

namespace tollbar::bench {

using namespace detail;

/// Keeps the CPU busy until it has computed that long. A stretch in which the thread had no CPU does not count: two
/// readings of the clock that are further apart than any that follow each other.
inline void compute(double us) noexcept {
    const Ticks apart = ticks_of(20e3);
    Ticks left = ticks_of(us * 1e3);
    Ticks before = ticks();
    while (left > 0) {
        const Ticks now = ticks();
        const Ticks passed = now - before;
        before = now;
        if (passed < apart) left -= std::min(left, passed);
    }
}

/// Lets that much time pass and leaves the CPU to others: what `us` of computing are to a host that has a CPU of its
/// own, where hosts only share this machine's. Sleeps as far as a timer is to be relied on, and gives way for the rest.
inline void be_away(double us) noexcept {
    constexpr double late_us = 100;  // the slack of a timer, which is 50, and a wake-up
    const Ticks until = ticks() + ticks_of(us * 1e3);
    if (us > late_us) usleep(static_cast<useconds_t>(us - late_us));
    while (ticks() < until) sched_yield();
}

/// The part of one rank in such a visit: the phases once to warm up, then `runs` times, timed by rank 0 from its first
/// computing to its last exit. visit.timing counts runs, not episodes. The first episodes are stamped, those of the
/// warm-up too: as many as there is room for.
template <class Seat>
void attend_working(Rank rank, Seat& seat, Visit& visit, const Workload& workload) {
    std::uint64_t episode = 0;
    const auto stamp = stamper(visit.stamps, rank, seat);
    const auto run_once = [&](std::uint64_t) {
        for (std::size_t phase = 0; phase < workload.compute_us.size(); ++phase, ++episode) {
            const double us = workload.before_us(rank, episode);
            visit.computing == Computing::busy ? compute(us) : be_away(us);
            if (episode < visit.stamps.capacity())
                stamp(episode);
            else
                seat.episode();
        }
    };
    std::fill_n(visit.stamps.row(rank), visit.stamps.capacity(), Stamp{});  // brings the rows to this CPU
    visit.meet();
    run_once(0);
    Timing& timing = visit.timing;
    const Usage before = rank == 0 ? Usage::of_process() : Usage{};
    const Ticks start = ticks();
    const std::uint64_t runs = run_chunks(rank, {workload.runs, 1, 1}, timing.pace.cut_ns, timing.timing, run_once);
    if (rank == 0) {
        timing.elapsed_ns = nanoseconds(ticks() - start);
        timing.timed = runs;
        timing.cut = runs < workload.runs;
        timing.usage = Usage::of_process() - before;
        visit.stamping.stamped = std::min<std::uint64_t>(episode, visit.stamps.capacity());
    }
    seat.episode();  // nobody goes to sleep in the meeting before rank 0 has looked
    visit.meet();
}

}  // namespace tollbar::bench
