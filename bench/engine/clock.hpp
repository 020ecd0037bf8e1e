// SPDX-License-Identifier: Apache-2.0
// The clock of the measuring programs: one counter that all CPUs share, cheap enough to stamp single episodes.
#pragma once

#include <cstdint>
#include <string_view>

namespace tollbar::bench {

using Ticks = std::uint64_t;

/// The shared clock. It is read neither before the caller's earlier loads are done nor after its later stores
/// become visible, so a stamp behind an episode is never too early and one before it never too late.
/// The first call calibrates and takes about 20 ms.
Ticks ticks() noexcept;

double nanoseconds(Ticks span) noexcept;
Ticks ticks_of(double nanoseconds) noexcept;

/// How far apart stamps of one moment may be on two CPUs: two of the smallest steps in which the clock is seen to move.
/// A counter of AMD's moves by 10 ns, and a hypervisor rounds the offset of each CPU.
Ticks apart() noexcept;

/// "tsc" or "monotonic".
std::string_view clock_name() noexcept;

/// The smallest step in which that clock is seen to move.
template <class Clock>
Ticks smallest_step(Clock read) noexcept {
    Ticks smallest = ~Ticks{0};
    Ticks last = read();
    for (int i = 0; i < 1000; ++i) {
        const Ticks now = read();
        if (now != last) smallest = now - last < smallest ? now - last : smallest;
        last = now;
    }
    return smallest;
}

}  // namespace tollbar::bench
