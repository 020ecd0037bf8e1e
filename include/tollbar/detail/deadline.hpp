// SPDX-License-Identifier: Apache-2.0
// Deadlines of timed waits: points of the monotonic clock that no argument can overflow.
#pragma once

#include <tollbar/detail/language.hpp>

#include <chrono>

#pragma GCC visibility push(default)
namespace tollbar::detail {

/// A point on the monotonic clock (std::chrono::steady_clock, CLOCK_MONOTONIC).
struct Deadline {
    std::chrono::steady_clock::time_point at;

    bool passed() const noexcept { return std::chrono::steady_clock::now() >= at; }
};

/// A deadline that never comes: waits with it compile to waits without one.
struct Never {
    static constexpr bool passed() noexcept { return false; }

    /// For what takes a point of the clock only.
    constexpr operator Deadline() const noexcept { return {std::chrono::steady_clock::time_point::max()}; }
};

/// Waits longer than this are for ever. Clocks count in 64-bit nanoseconds and would overflow at three of them.
inline constexpr std::chrono::duration<double> century{3.2e9};

/// The deadline that far from now; the last instant of the clock when that is more than a century, and now for what is
/// no number.
template <class Rep, class Period>
Deadline deadline_after(std::chrono::duration<Rep, Period> wait) noexcept {
    using Clock = std::chrono::steady_clock;
    if (std::chrono::duration<double>(wait) > century) return {Clock::time_point::max()};
    if (!(wait > wait.zero())) return {Clock::now()};
    return {Clock::now() + std::chrono::ceil<Clock::duration>(wait)};
}

/// The same instant on the monotonic clock; now for what is past, the last instant for more than a century ahead.
template <class Clock, class Duration>
std::chrono::steady_clock::time_point on_steady_clock(std::chrono::time_point<Clock, Duration> at) noexcept {
    using Seconds = std::chrono::duration<double>;
    const auto now = Clock::now();
    const Seconds ahead = Seconds(at.time_since_epoch()) - Seconds(now.time_since_epoch());
    if (ahead > century) return deadline_after(ahead).at;
    if (ahead < Seconds(-1)) return deadline_after(Seconds(0)).at;  // doubles are that exact at any date
    return deadline_after(at - now).at;
}

/// Whether the instant is still ahead on its own clock. A point of on_steady_clock() may have passed although it has
/// not: the time between is counted by the steady clock, which may be faster.
template <class Clock, class Duration>
bool is_ahead(std::chrono::time_point<Clock, Duration> at) noexcept {
    using Seconds = std::chrono::duration<double>;
    const auto now = Clock::now();
    const Seconds ahead = Seconds(at.time_since_epoch()) - Seconds(now.time_since_epoch());
    if (ahead > Seconds(1) || ahead < Seconds(-1)) return ahead > Seconds(0);  // doubles are that exact at any date
    return at > now;
}

}  // namespace tollbar::detail
#pragma GCC visibility pop
