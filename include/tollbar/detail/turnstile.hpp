// SPDX-License-Identifier: Apache-2.0
// The central barrier whose roles depend on the order of arrival, in its fastest form: one word that only
// grows is both the counter and the release, so an episode moves one cache line once.
#pragma once

#include <tollbar/detail/checked.hpp>
#include <tollbar/detail/waiting.hpp>

#include <algorithm>
#include <cstdint>

#pragma GCC visibility push(default)
namespace tollbar::detail {

/// Completes nothing.
struct Nothing {
    constexpr void operator()() const noexcept {}
};

/// The step between the last arrival of a phase and its release: none, or one in which a thread runs the completion
/// while the others wait.
enum class Closing : std::uint8_t { none, step };

/// Any number of threads without ranks. Replaces the sense-reversing barrier: nothing is ever reset.
///
///     Turnstile<NativeSync> turnstile(threads);
///     std::uint64_t target = turnstile.arrive(1);
///     turnstile.wait(target, budget, Never{});
///
/// A phase is over when the word has reached the next multiple of its stride: `expected`, or one more for the
/// closing step.
template <class Sync, Closing closing = Closing::none>
class Turnstile {
public:
    static constexpr std::uint64_t max_expected = 0x7fff'ffff;

    /// `start` is where the word begins, for tests of wrap-around; it is rounded down to a multiple of the stride.
    constexpr explicit Turnstile(std::uint64_t expected, std::uint64_t start = 0) noexcept
        : expected_(expected),
          stride_(std::max<std::uint64_t>(expected, 1) + closing_step), word_{start - start % stride_} {}

    Turnstile(const Turnstile&) = delete;
    Turnstile& operator=(const Turnstile&) = delete;

    std::uint64_t expected() const noexcept { return expected_; }

    /// Arrives `times` (at least 1, at most what the phase still expects; checked builds stop otherwise) and returns
    /// the value that ends the phase. The last arrival runs `complete` (with a closing step only), then releases.
    /// Memory order: release of what the caller did before; what every arriver did happens before `complete`.
    template <bool check = checked, class Complete = Nothing>
    std::uint64_t arrive(std::uint64_t times, Complete&& complete = {}) noexcept {
        const std::uint64_t before = word_.fetch_add(times, std::memory_order_seq_cst);
        const std::uint64_t in_phase = before % stride_;
        if constexpr (check)
            expect_room(static_cast<std::int64_t>(times), static_cast<std::int64_t>(expected_ - in_phase));
        const std::uint64_t target = before - in_phase + stride_;
        // The last arrival is soon the first of the next phase: the less it does here, the likelier its cache still
        // has the word by then.
        if (in_phase + times == expected_) close(target, complete);
        return target;
    }

    /// Arrives once and leaves for good: later phases expect one arrival less. Memory order: as arrive().
    template <bool check = checked, class Complete = Nothing>
    void arrive_and_drop(Complete&& complete = {}) noexcept {
        // The caller still owes this phase an arrival, so the phase cannot change while it is noted.
        const std::uint64_t phase = word_.load(std::memory_order_relaxed) / stride_;
        gone_[phase % 2].add(phase, 1);
        anybody_gone_.store(true, std::memory_order_relaxed);
        arrive<check>(1, complete);
    }

    /// Whether the phase that ends at `target` is over. Memory order: acquire of all arrivals and the completion.
    bool reached(std::uint64_t target) const noexcept { return word_.load(std::memory_order_acquire) >= target; }

    /// Waits until it is over; false when the deadline passed first, and may then be called again.
    /// Memory order: as reached().
    template <class Deadline>
    bool wait(std::uint64_t target, BasicWaitBudget<typename Sync::Backoff> budget, Deadline deadline) const noexcept {
        budget.spinning = &spinning_;
        return detail::wait<Sync>(AwaitedEnd<Turnstile>{*this, target}, budget, deadline);
    }

    /// Whether spinning pays for those who wait for `target`.
    auto& spinning(std::uint64_t) const noexcept { return spinning_; }

    /// Sleeps until it may be over; false when the deadline passed first. Memory order: none.
    template <class Deadline>
    bool sleep(std::uint64_t target, Deadline deadline) const noexcept {
        return park(word_, target, sleepers_, turn_of(target), Waking{}, deadline);
    }

private:
    friend struct Outside;  // what `tollbar who` reads of it: src/look/own_barriers.cpp

    /// The number of the phase that ends at `target`.
    std::uint64_t turn_of(std::uint64_t target) const noexcept { return target / stride_; }

    /// How many arrivals a phase lacks because somebody left in it or before: the number of the phase and the count.
    /// One for odd and one for even phases. A phase that lacks nobody may be overwritten by the next but one,
    /// which does no harm; a phase that lacks somebody cannot end without the arrivals that close() adds.
    class Gone {
    public:
        void add(std::uint64_t phase, std::uint64_t count) noexcept {
            std::uint64_t seen = word_.load(std::memory_order_relaxed);
            std::uint64_t next = 0;
            do {
                next = same_phase(seen, phase) ? seen + count : phase << 32 | count;
            } while (!word_.compare_exchange_weak(seen, next, std::memory_order_relaxed, std::memory_order_relaxed));
        }

        std::uint64_t in(std::uint64_t phase) const noexcept {
            const std::uint64_t seen = word_.load(std::memory_order_relaxed);
            return same_phase(seen, phase) ? seen & 0xffff'ffff : 0;
        }

    private:
        static bool same_phase(std::uint64_t seen, std::uint64_t phase) noexcept {
            return seen >> 32 == (phase & 0xffff'ffff);
        }

        typename Sync::template Atomic<std::uint64_t> word_{0};
    };

    /// Everybody of the phase that ends at `target` has arrived: completes and releases.
    template <class Complete>
    void close(std::uint64_t target, Complete&& complete) noexcept {
        if constexpr (closing == Closing::step) complete();
        if (anybody_gone_.load(std::memory_order_relaxed)) {
            close_for_the_gone(target);
        } else {
            if constexpr (closing == Closing::step) word_.fetch_add(closing_step, std::memory_order_seq_cst);
            wake_sleepers_after_add(word_, sleepers_, turn_of(target), Waking{});
        }
    }

    /// Releases, and arrives in the next phase for those who are gone. Without a closing step the next phase is open
    /// already, so that these arrivals may be its last, and so on as long as the others are as fast.
    void close_for_the_gone(std::uint64_t target) noexcept {
        for (bool over = true; over; target += stride_) {
            const std::uint64_t phase = target / stride_ - 1;
            const std::uint64_t gone = gone_[phase % 2].in(phase);
            if (gone != 0) gone_[(phase + 1) % 2].add(phase + 1, gone);
            std::uint64_t reached = target;
            if (gone + closing_step != 0)
                reached = word_.fetch_add(gone + closing_step, std::memory_order_seq_cst) + gone + closing_step;
            wake_sleepers_after_add(word_, sleepers_, turn_of(target), Waking{});
            const bool somebody_left = gone != 0 && gone != expected_;
            over = closing == Closing::none && somebody_left && reached == target + stride_;
        }
    }

    static constexpr std::uint64_t closing_step = closing == Closing::step ? 1 : 0;

    // Hardly ever written: stays in everybody's cache.
    std::uint64_t expected_;
    std::uint64_t stride_;
    Gone gone_[2];
    typename Sync::template Atomic<bool> anybody_gone_{false};

    mutable typename Sync::Backoff spinning_;
    mutable Sleepers<Sync> sleepers_;
    alignas(line_bytes) Word<Sync> word_;
};

}  // namespace tollbar::detail
#pragma GCC visibility pop
