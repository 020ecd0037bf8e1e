// SPDX-License-Identifier: Apache-2.0
// The clock where no invariant counter can be read from user space: CLOCK_MONOTONIC, one tick a nanosecond.
#include "clock.hpp"

#include <ctime>

namespace tollbar::bench {

Ticks ticks() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<Ticks>(now.tv_sec) * 1'000'000'000 + static_cast<Ticks>(now.tv_nsec);
}

double nanoseconds(Ticks span) noexcept { return static_cast<double>(span); }
Ticks ticks_of(double nanoseconds) noexcept { return static_cast<Ticks>(nanoseconds); }
Ticks apart() noexcept {
    static const Ticks steps = 2 * smallest_step(ticks);
    return steps;
}
std::string_view clock_name() noexcept { return "monotonic"; }

}  // namespace tollbar::bench
