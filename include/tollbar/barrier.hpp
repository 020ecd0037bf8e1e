// SPDX-License-Identifier: Apache-2.0
// tollbar::barrier: everything std::barrier promises, at the cost of one cache-line transfer, with time-outs.
#pragma once

#include <tollbar/detail/unranked.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)
namespace tollbar {
namespace detail {
struct BarrierOverLeaves;  // makes a barrier over given leaves wherever it runs: the tests'
}

/// A drop-in replacement for std::barrier ([thread.barrier]): replace `std::` by `tollbar::`, nothing else.
///
///     tollbar::barrier barrier(threads, [&]() noexcept { swap(now, next); });
///     ...in each thread...
///     compute(now, next);
///     barrier.arrive_and_wait();
///
/// Adds try_wait, wait_for and wait_until (P2643); a wait that timed out may be repeated.
/// TOLLBAR_WAIT selects how threads wait; with auto, the default, at most the last to arrive on each CPU spins when
/// there are more threads than CPUs.
///
/// It is one word where few threads meet. With more threads than cores share a cache (10 where many do), or at least
/// two for each CPU, it has tickets for them near where they run: docs/design/leaves.md. Leaves are allocated when it
/// is made, 256 bytes for each 4 threads, or for each CPU, and up to a kilobyte more; otherwise, and at compile time,
/// nothing is.
///
/// A file that is compiled with TOLLBAR_CHECKED aborts where it arrives more often than the phase expects, or expects
/// fewer than 0 or more than max(); barriers that it makes are one word.
///
/// Memory order: what a thread did before it arrived happens before the completion function, which happens before any
/// wait for that phase returns.
template <class CompletionFunction = detail::Nothing>
class barrier {
    static_assert(std::is_invocable_v<CompletionFunction&>,
                  "the completion function of a tollbar::barrier is called without arguments");
    static_assert(std::is_move_constructible_v<CompletionFunction>,
                  "a tollbar::barrier keeps its completion function: it must be movable");

    static constexpr detail::Closing closing = std::is_same_v<CompletionFunction, detail::Nothing>
                                                   ? detail::Closing::none
                                                   : detail::Closing::step;

public:
    /// Names one phase: the result of arrive(), the argument of wait(), try_wait(), wait_for() and wait_until().
    class arrival_token {
    public:
        arrival_token(arrival_token&&) noexcept = default;
        arrival_token& operator=(arrival_token&&) noexcept = default;

    private:
        friend barrier;
        explicit arrival_token(std::uint64_t target) noexcept : target_(target) {}

        std::uint64_t target_;  ///< with leaves the ticket there
    };

    /// The largest count a barrier can expect.
    static constexpr std::ptrdiff_t max() noexcept { return detail::Turnstile<detail::NativeSync>::max_expected; }

    /// Requires 0 <= expected <= max(). Cannot fail: without memory for leaves it is one word.
    template <bool check = detail::checked>
    constexpr explicit barrier(std::ptrdiff_t expected, CompletionFunction completion = CompletionFunction())
        : threads_(static_cast<std::uint64_t>(expected), leaves_unless<check>(expected)),
          completion_(std::move(completion)) {}

    barrier(const barrier&) = delete;
    barrier& operator=(const barrier&) = delete;
    constexpr ~barrier() = default;

    /// Arrives `update` times (1 <= update <= what the phase still expects); never blocks. The last arrival runs
    /// the completion function; if that throws, std::terminate is called. Throws nothing.
    [[nodiscard, gnu::always_inline]] arrival_token arrive(std::ptrdiff_t update = 1) {
        return arrival_token(threads_.arrive(static_cast<std::uint64_t>(update), completion_));
    }

    /// Blocks until the token's phase is over. Throws nothing.
    void wait(arrival_token&& phase) const { threads_.wait(phase.target_, detail::Never{}); }

    /// Arrives once and blocks until the phase is over. Throws nothing.
    [[gnu::always_inline]] void arrive_and_wait() { threads_.arrive_and_wait(completion_); }

    /// Arrives; every later phase expects one arrival fewer. Throws nothing.
    [[gnu::always_inline]] void arrive_and_drop() { threads_.arrive_and_drop(completion_); }

    /// Whether the token's phase is over; never blocks. Memory order: as wait() when true.
    [[nodiscard]] bool try_wait(const arrival_token& phase) const noexcept { return threads_.reached(phase.target_); }

    /// Blocks until the phase is over or the time has passed. False after a time-out; the token may be waited for
    /// again. Throws nothing.
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(const arrival_token& phase, std::chrono::duration<Rep, Period> at_most) const {
        return wait_until(phase, detail::deadline_after(at_most).at);
    }

    /// As wait_for, up to a point in time on any clock. Throws what the clock throws.
    template <class Clock, class Duration>
    [[nodiscard]] bool wait_until(const arrival_token& phase, std::chrono::time_point<Clock, Duration> at) const {
        if (try_wait(phase)) return true;
        detail::Deadline deadline{detail::on_steady_clock(at)};
        do {
            if (threads_.wait(phase.target_, deadline)) return true;
            deadline.at = detail::on_steady_clock(at);  // other clocks may have been set meanwhile
        } while (detail::is_ahead(at));
        return false;
    }

private:
    friend struct detail::BarrierOverLeaves;
    barrier(std::unique_ptr<detail::Leaves<detail::NativeSync>> leaves, std::ptrdiff_t expected,
            CompletionFunction completion)
        : threads_(static_cast<std::uint64_t>(expected), leaves.release()), completion_(std::move(completion)) {}

    template <bool check>
    static constexpr detail::Leaves<detail::NativeSync>* leaves_unless(std::ptrdiff_t expected) noexcept {
        if (check && (expected < 0 || expected > max())) detail::refuse_expected(expected, max());
        const auto threads = static_cast<std::uint64_t>(expected);
        if (std::is_constant_evaluated() || check || threads < detail::fewest_for_leaves) return nullptr;
        return detail::leaves_for(threads).release();
    }

    detail::Unranked<detail::NativeSync, closing> threads_;
    [[no_unique_address]] CompletionFunction completion_;
};

}  // namespace tollbar
#pragma GCC visibility pop
