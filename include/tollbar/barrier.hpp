// SPDX-License-Identifier: Apache-2.0
// tollbar::barrier: everything std::barrier promises, at the cost of one cache-line transfer, with time-outs.
#pragma once

#include <tollbar/detail/crowding.hpp>
#include <tollbar/detail/turnstile.hpp>

#include <chrono>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace tollbar {

/// A drop-in replacement for std::barrier ([thread.barrier]): replace `std::` by `tollbar::`, nothing else.
///
///     tollbar::barrier barrier(threads, [&]() noexcept { swap(now, next); });
///     ...in each thread...
///     compute(now, next);
///     barrier.arrive_and_wait();
///
/// Adds try_wait, wait_for and wait_until (P2643); a wait that timed out may be repeated.
/// TOLLBAR_WAIT selects how threads wait; with auto, the default, none spins when there are more threads than CPUs.
///
/// A file that is compiled with TOLLBAR_CHECKED aborts where it arrives more often than the phase expects.
///
/// Memory order: what a thread did before it arrived happens before the completion function, which happens before any
/// wait for that phase returns.
template <class CompletionFunction = Nothing>
class barrier {
    static_assert(std::is_invocable_v<CompletionFunction&>,
                  "the completion function of a tollbar::barrier is called without arguments");
    static_assert(std::is_move_constructible_v<CompletionFunction>,
                  "a tollbar::barrier keeps its completion function: it must be movable");

    static constexpr Closing closing = std::is_same_v<CompletionFunction, Nothing> ? Closing::none : Closing::step;

public:
    /// Names one phase: the result of arrive(), the argument of wait(), try_wait(), wait_for() and wait_until().
    class arrival_token {
    public:
        arrival_token(arrival_token&&) noexcept = default;
        arrival_token& operator=(arrival_token&&) noexcept = default;

    private:
        friend barrier;
        explicit arrival_token(std::uint64_t target) noexcept : target_(target) {}

        std::uint64_t target_;
    };

    /// The largest count a barrier can expect.
    static constexpr std::ptrdiff_t max() noexcept { return Turnstile<NativeSync>::max_expected; }

    /// Requires 0 <= expected <= max(). Does not allocate, cannot fail.
    constexpr explicit barrier(std::ptrdiff_t expected, CompletionFunction completion = CompletionFunction())
        : turnstile_(static_cast<std::uint64_t>(expected)), completion_(std::move(completion)) {}

    barrier(const barrier&) = delete;
    barrier& operator=(const barrier&) = delete;

    /// Arrives `update` times (1 <= update <= what the phase still expects); never blocks. The last arrival runs
    /// the completion function; if that throws, std::terminate is called.
    [[nodiscard, gnu::always_inline]] arrival_token arrive(std::ptrdiff_t update = 1) {
        return arrival_token(turnstile_.arrive(static_cast<std::uint64_t>(update), completion_));
    }

    /// Blocks until the token's phase is over.
    void wait(arrival_token&& phase) const { wait_for_target(phase.target_); }

    [[gnu::always_inline]] void arrive_and_wait() { wait_for_target(turnstile_.arrive(1, completion_)); }

    /// Arrives; every later phase expects one arrival fewer.
    [[gnu::always_inline]] void arrive_and_drop() { turnstile_.arrive_and_drop(completion_); }

    /// Whether the token's phase is over; never blocks. Memory order: as wait() when true.
    [[nodiscard]] bool try_wait(const arrival_token& phase) const noexcept { return turnstile_.reached(phase.target_); }

    /// Blocks until the phase is over or the time has passed. False after a time-out; the token may be waited for
    /// again.
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(const arrival_token& phase, std::chrono::duration<Rep, Period> at_most) const {
        return wait_until(phase, deadline_after(at_most).at);
    }

    template <class Clock, class Duration>
    [[nodiscard]] bool wait_until(const arrival_token& phase, std::chrono::time_point<Clock, Duration> at) const {
        if (turnstile_.reached(phase.target_)) return true;
        Deadline deadline{on_steady_clock(at)};
        do {
            if (turnstile_.wait(phase.target_, default_patience(turnstile_.expected()), deadline)) return true;
            deadline.at = on_steady_clock(at);  // other clocks may have been set meanwhile
        } while (!deadline.passed());
        return false;
    }

private:
    void wait_for_target(std::uint64_t target) const {
        // With a CPU for everybody most waits are over before default_patience() would have been asked.
        constexpr int first_polls = 128;
        if (turnstile_.expected() <= roomy_up_to.load(std::memory_order_relaxed))
            for (int poll = 0; poll < first_polls; ++poll, NativeSync::pause())
                if (turnstile_.reached(target)) return;
        if (turnstile_.reached(target)) return;
        turnstile_.wait(target, default_patience(turnstile_.expected()), Never{});
    }

    Turnstile<NativeSync, closing> turnstile_;
    [[no_unique_address]] CompletionFunction completion_;
};

}  // namespace tollbar
