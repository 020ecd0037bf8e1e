// SPDX-License-Identifier: Apache-2.0
// tollbar::barrier: everything std::barrier promises, at the cost of one cache-line transfer, with time-outs.
#pragma once

#include <tollbar/detail/crowding.hpp>
#include <tollbar/detail/leaves.hpp>
#include <tollbar/detail/turnstile.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
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
/// It is one word where few threads meet, or more than there are CPUs. With more threads than cores share a cache (10
/// where many do) it has places for them near where they run: docs/design/leaves.md. Leaves are
/// allocated when it is made, 256 bytes for each 8 threads and up to a kilobyte more; otherwise, and at compile time,
/// nothing is.
///
/// A file that is compiled with TOLLBAR_CHECKED aborts where it arrives more often than the phase expects; barriers
/// that it makes are one word.
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

        std::uint64_t target_;  ///< with leaves the place there
    };

    /// The largest count a barrier can expect.
    static constexpr std::ptrdiff_t max() noexcept { return Turnstile<NativeSync>::max_expected; }

    /// Requires 0 <= expected <= max(). Cannot fail: without memory for leaves it is one word.
    template <bool check = checked>
    constexpr explicit barrier(std::ptrdiff_t expected, CompletionFunction completion = CompletionFunction())
        : turnstile_(static_cast<std::uint64_t>(expected)), completion_(std::move(completion)) {
        if (!std::is_constant_evaluated() && !check && turnstile_.expected() >= fewest_for_leaves)
            leaves_ = leaves_for(turnstile_.expected()).release();
    }

    /// With these leaves, which expect as many, wherever it runs: for tests. None: one word.
    barrier(std::unique_ptr<Leaves<NativeSync>> leaves, std::ptrdiff_t expected,
            CompletionFunction completion = CompletionFunction())
        : turnstile_(static_cast<std::uint64_t>(expected)), completion_(std::move(completion)),
          leaves_(leaves.release()) {}

    barrier(const barrier&) = delete;
    barrier& operator=(const barrier&) = delete;
    constexpr ~barrier() {
        if (leaves_ != nullptr) delete leaves_;
    }

    /// Arrives `update` times (1 <= update <= what the phase still expects); never blocks. The last arrival runs
    /// the completion function; if that throws, std::terminate is called.
    [[nodiscard, gnu::always_inline]] arrival_token arrive(std::ptrdiff_t update = 1) {
        if (leaves_ != nullptr) [[unlikely]]
            return arrival_token(arrive_at_leaf(static_cast<std::uint64_t>(update)));
        return arrival_token(turnstile_.arrive(static_cast<std::uint64_t>(update), completion_));
    }

    /// Blocks until the token's phase is over.
    void wait(arrival_token&& phase) const {
        if (leaves_ != nullptr) [[unlikely]]
            return wait_at_leaf(phase.target_);
        wait_for_target(phase.target_);
    }

    [[gnu::always_inline]] void arrive_and_wait() {
        if (leaves_ != nullptr) [[unlikely]]
            return wait_at_leaf(arrive_at_leaf(1));
        wait_for_target(turnstile_.arrive(1, completion_));
    }

    /// Arrives; every later phase expects one arrival fewer.
    [[gnu::always_inline]] void arrive_and_drop() {
        if (leaves_ != nullptr) [[unlikely]]
            return leaves_->arrive_and_drop(completion_);
        turnstile_.arrive_and_drop(completion_);
    }

    /// Whether the token's phase is over; never blocks. Memory order: as wait() when true.
    [[nodiscard]] bool try_wait(const arrival_token& phase) const noexcept {
        return leaves_ == nullptr ? turnstile_.reached(phase.target_) : leaves_->reached(phase.target_);
    }

    /// Blocks until the phase is over or the time has passed. False after a time-out; the token may be waited for
    /// again.
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(const arrival_token& phase, std::chrono::duration<Rep, Period> at_most) const {
        return wait_until(phase, deadline_after(at_most).at);
    }

    template <class Clock, class Duration>
    [[nodiscard]] bool wait_until(const arrival_token& phase, std::chrono::time_point<Clock, Duration> at) const {
        if (try_wait(phase)) return true;
        Deadline deadline{on_steady_clock(at)};
        do {
            const Patience patience = default_patience(turnstile_.expected());
            if (leaves_ == nullptr ? turnstile_.wait(phase.target_, patience, deadline)
                                   : leaves_->wait(phase.target_, patience, deadline))
                return true;
            deadline.at = on_steady_clock(at);  // other clocks may have been set meanwhile
        } while (is_ahead(at));
        return false;
    }

private:
    [[gnu::noinline]] std::uint64_t arrive_at_leaf(std::uint64_t times) { return leaves_->arrive(times, completion_); }

    [[gnu::noinline]] void wait_at_leaf(std::uint64_t place) const {
        leaves_->wait(place, default_patience(turnstile_.expected()), Never{});
    }

    void wait_for_target(std::uint64_t target) const {
        // With a CPU for everybody most waits are over before default_patience() would have been asked.
        constexpr int first_polls = 128;
        if (turnstile_.expected() <= roomy_up_to.load(std::memory_order_relaxed) && turnstile_.spinning_pays())
            for (int poll = 0; poll < first_polls; ++poll, NativeSync::pause())
                if (turnstile_.reached(target)) return;
        if (turnstile_.reached(target)) return;
        turnstile_.wait(target, default_patience(turnstile_.expected()), Never{});
    }

    Turnstile<NativeSync, closing> turnstile_;
    [[no_unique_address]] CompletionFunction completion_;
    Leaves<NativeSync>* leaves_ = nullptr;
};

}  // namespace tollbar
