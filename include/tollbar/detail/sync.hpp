// SPDX-License-Identifier: Apache-2.0
// What the thread algorithms need from the machine: atomics, ways to wait, ways to wake. They are templates
// over this policy, so that the very same source runs on hardware and under the model checker.
#pragma once

#include <tollbar/detail/company.hpp>
#include <tollbar/detail/language.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tollbar {

/// One destructive-interference unit. Two 64-byte lines: adjacent-line prefetchers fetch them in pairs.
inline constexpr std::size_t line_bytes = 128;

/// A deadline that never comes: waits with it compile to waits without one.
struct Never {
    static constexpr bool passed() noexcept { return false; }
};

/// A point on the monotonic clock (std::chrono::steady_clock, CLOCK_MONOTONIC).
struct Deadline {
    std::chrono::steady_clock::time_point at;

    bool passed() const noexcept { return std::chrono::steady_clock::now() >= at; }
};

/// Waits longer than this are for ever. Clocks count in 64-bit nanoseconds and would overflow at three of them.
inline constexpr std::chrono::duration<double> century{3.2e9};

/// The deadline that far from now; the last instant of the clock when that is more than a century.
template <class Rep, class Period>
Deadline deadline_after(std::chrono::duration<Rep, Period> wait) noexcept {
    using Clock = std::chrono::steady_clock;
    if (!(std::chrono::duration<double>(wait) <= century)) return {Clock::time_point::max()};
    if (wait <= wait.zero()) return {Clock::now()};
    return {Clock::now() + std::chrono::ceil<Clock::duration>(wait)};
}

/// Whether sleepers and wakers of a word may live in different processes.
enum class Scope : std::uint8_t { process, shared };

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

/// Whether that clock has not come so far. A point of on_steady_clock() may have passed although it has not: the time
/// between is counted by the steady clock, which may be faster.
template <class Clock, class Duration>
bool is_ahead(std::chrono::time_point<Clock, Duration> at) noexcept {
    using Seconds = std::chrono::duration<double>;
    const auto now = Clock::now();
    const Seconds ahead = Seconds(at.time_since_epoch()) - Seconds(now.time_since_epoch());
    if (ahead > Seconds(1) || ahead < Seconds(-1)) return ahead > Seconds(0);  // doubles are that exact at any date
    return at > now;
}

/// Linux: std::atomic, futex(2), membarrier(2).
struct NativeSync {
    template <class T>
    using Atomic = std::atomic<T>;

    static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("isb" ::: "memory");
#endif
    }

    /// A clock for short times, without a system call where the machine has one: it counts as Pace does.
    static std::uint64_t ticks() noexcept {
#if defined(__x86_64__) || defined(__i386__)
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
        std::uint64_t count;
        asm volatile("mrs %0, cntvct_el0" : "=r"(count));
        return count;
#else
        return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
    }

    /// Measured once a process.
    static const Pace& pace() noexcept;

    using Company = tollbar::Company;
    using Waves = tollbar::Waves;

    /// What this process knows of the CPU that the caller runs on.
    static Company& company() noexcept;

    /// How many a release wakes that wakes a few, and how many each of them wakes.
    static constexpr std::uint32_t links = 3;

    /// The number of the neighbours among whom the caller's CPU is: vicinity.hpp. Costs a few nanoseconds.
    static std::uint32_t vicinity() noexcept;

    /// sched_yield(2): gives way to other threads of the caller's scheduler group, if any can run.
    static void yield() noexcept;

    /// Sleeps until then, or a signal handler has run.
    static void nap_until(Deadline deadline) noexcept;

    /// Memory order: a full fence for the caller alone.
    static void full_fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

    /// Memory order: with heavy_fence a pair: of two threads that each write, fence (one light, one heavy) and
    /// read what the other wrote, at least one sees the other's write. Costs nothing: the heavy side pays.
    static void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

    /// membarrier(2): as if every thread of the registered processes executed a full fence now. False, and no fence,
    /// when the kernel refuses, as under a seccomp filter that came after the registration.
    static bool heavy_fence(Scope scope) noexcept;

    /// Registers this process with those that heavy_fence reaches; false when the kernel refuses. Every process
    /// that takes part must call it, a child after fork(2) too; again does no harm.
    static bool register_for_heavy_fence() noexcept;

    /// Whom a wake-up reaches: sleepers whose mask has a bit in common with the waker's.
    static constexpr std::uint32_t everybody = ~std::uint32_t{0};

    /// Sleeps while the low half of `word` is that of `seen`, until woken (or for no reason). False when the
    /// deadline has passed. Memory order: none; load the word again.
    static bool sleep_on(const std::atomic<std::uint64_t>& word, std::uint64_t seen, std::uint32_t mask, Scope scope,
                         Never) noexcept;
    static bool sleep_on(const std::atomic<std::uint64_t>& word, std::uint64_t seen, std::uint32_t mask, Scope scope,
                         Deadline deadline) noexcept;

    static constexpr std::uint32_t all = 0x7fff'ffff;

    /// Wakes those who sleep on `word` and whom the mask reaches, `most` of them at most.
    static void wake(const std::atomic<std::uint64_t>& word, std::uint32_t mask, Scope scope,
                     std::uint32_t most) noexcept;

    /// How often `pause` fits into the price of one wake-up across CPUs (20 us; measured once a process).
    static std::uint32_t spins_worth_a_wake() noexcept;
};

}  // namespace tollbar
