// SPDX-License-Identifier: Apache-2.0
// The machine as the thread algorithms use it: atomics, ways to wait, ways to wake. They are templates
// over this policy, so that the very same source runs on hardware and under the model checker.
#pragma once

#include <tollbar/detail/neighbours.hpp>
#include <tollbar/detail/deadline.hpp>
#include <tollbar/detail/language.hpp>
#include <tollbar/detail/wait_policy.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#pragma GCC visibility push(default)
namespace tollbar::detail {

/// One destructive-interference unit. Two 64-byte lines: adjacent-line prefetchers fetch them in pairs.
inline constexpr std::size_t line_bytes = 128;

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

    /// The rate of ticks() and the cost of a yield, measured once a process.
    static const Pace& pace() noexcept;

    using Backoff = detail::Backoff;
    using Neighbours = detail::Neighbours;

    /// The process's knowledge of the CPU that the caller runs on.
    static Neighbours& neighbours() noexcept;

    /// The number of the caller's cache cluster: topology.hpp. Costs a few nanoseconds.
    static std::uint32_t cluster() noexcept;

    /// The number of the caller's group of neighbouring cores, of those that this process might use when it began:
    /// clusters.hpp. As cheap.
    static std::uint32_t group() noexcept;

    /// The number of the caller's CPU among those that this process might use when it began. As cheap.
    static std::uint32_t cpu() noexcept;

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

    /// The mask of a wake-up that reaches every sleeper.
    static constexpr std::uint32_t everybody = ~std::uint32_t{0};

    /// Sleeps while the low half of `word` is that of `seen`, until woken (or for no reason). False when the
    /// deadline has passed. Memory order: none; load the word again.
    static bool sleep_on(const std::atomic<std::uint64_t>& word, std::uint64_t seen, std::uint32_t mask, Scope scope,
                         Never) noexcept;
    static bool sleep_on(const std::atomic<std::uint64_t>& word, std::uint64_t seen, std::uint32_t mask, Scope scope,
                         Deadline deadline) noexcept;

    /// Wakes the sleepers on `word` whose mask shares a bit with `mask`.
    static void wake(const std::atomic<std::uint64_t>& word, std::uint32_t mask, Scope scope) noexcept;

    /// How often `pause` fits into wake_us; measured once a process.
    static std::uint32_t spins_worth_a_wake() noexcept;
};

}  // namespace tollbar::detail
#pragma GCC visibility pop
