// SPDX-License-Identifier: Apache-2.0
// The thread algorithms' policy on simulated caches: atomics that cost what their lines cost. Everybody has a core, so
// nobody ever yields or sleeps.
#pragma once

#include "caches.hpp"

#include <tollbar/detail/sync.hpp>
#include <tollbar/detail/unranked.hpp>
#include <tollbar/detail/waiting.hpp>

#include <cstdint>
#include <cstdlib>

namespace tollbar::cores {

using namespace detail;

struct SimulatedSync {
    /// Eight bytes, as std::atomic of a number or pointer, so that structures lie in lines as they do in life.
    template <class T>
    class Atomic {
    public:
        constexpr Atomic(T value = T{}) noexcept : value_(static_cast<std::uint64_t>(value)) {}
        Atomic(const Atomic&) = delete;
        Atomic& operator=(const Atomic&) = delete;

        T load(std::memory_order) const noexcept {
            return static_cast<T>(Caches::running() ? Caches::current().load(value_) : value_);
        }
        void store(T value, std::memory_order) noexcept {
            if (Caches::running())
                Caches::current().store(value_, bits(value));
            else
                value_ = bits(value);  // before the simulation
        }
        T fetch_add(T value, std::memory_order) noexcept {
            return static_cast<T>(Caches::current().add(value_, bits(value)));
        }
        T fetch_sub(T value, std::memory_order) noexcept {
            return static_cast<T>(Caches::current().add(value_, -bits(value)));
        }
        T fetch_or(T, std::memory_order) noexcept { std::abort(); }   // of sleepers only
        T fetch_and(T, std::memory_order) noexcept { std::abort(); }  // of sleepers only
        bool compare_exchange_weak(T& expected, T desired, std::memory_order, std::memory_order) noexcept {
            const std::uint64_t wanted = bits(expected);
            const std::uint64_t seen = Caches::current().change(value_, wanted, bits(desired));
            expected = static_cast<T>(seen);
            return seen == wanted;
        }

    private:
        static constexpr std::uint64_t bits(T value) noexcept { return static_cast<std::uint64_t>(value); }

        std::uint64_t value_;
    };

    static void pause() noexcept { Caches::current().pause(); }
    static void delay(double n) noexcept { Caches::current().compute(n); }
    static void yield() noexcept { Caches::current().compute(1000); }
    static std::uint64_t ticks() noexcept { return static_cast<std::uint64_t>(Caches::current().now()); }
    static const Pace& pace() noexcept {
        static constexpr Pace pace{.ticks_per_us = 1000, .fruitless = 1000};
        return pace;
    }

    using Backoff = BasicBackoff<Atomic<std::uint64_t>, polls_in_vain>;
    using Neighbours = tollbar::detail::Neighbours;
    static Neighbours& neighbours() noexcept { std::abort(); }  // of those who yield

    static constexpr std::uint32_t everybody = ~std::uint32_t{0};

    static void full_fence() noexcept { Caches::current().drain(); }
    static void order_stores() noexcept { full_fence(); }  // stores to several lines come about in any order
    static void light_fence() noexcept {}
    static bool heavy_fence(Scope) noexcept { std::abort(); }  // of sleepers
    template <class Deadline>
    static bool sleep_on(const Atomic<std::uint64_t>&, std::uint64_t, std::uint32_t, Scope, Deadline) noexcept {
        std::abort();
    }
    static void wake(const Atomic<std::uint64_t>&, std::uint32_t, Scope) noexcept { std::abort(); }
    static std::uint32_t spins_worth_a_wake() noexcept { return 1U << 30; }

    static std::uint32_t group() noexcept { return Caches::current().group(); }
    static std::uint32_t cpu() noexcept { std::abort(); }  // of several threads
};

/// Everybody has a core.
inline Manner<SimulatedSync::Backoff> manner_of_unranked(SimulatedSync, std::uint64_t) noexcept {
    return {.budget = wait_budget_for<SimulatedSync>(wait_policy::automatic, Occupancy::exclusive), .for_all = true};
}

inline constexpr auto relaxed = std::memory_order_relaxed;  // accesses cost the same in any order

template <class T>
using Atomic = SimulatedSync::Atomic<T>;

/// A word alone in its lines.
struct alignas(line_bytes) LoneWord {
    Word<SimulatedSync> word{0};
};

/// Polls until the value of a word is as wanted.
template <class Wanted>
void poll(const Word<SimulatedSync>& word, const Wanted& wanted) {
    while (!wanted(word.load(relaxed))) SimulatedSync::pause();
}

inline void await_at_least(const Word<SimulatedSync>& word, std::uint64_t target) {
    poll(word, [target](std::uint64_t value) { return value >= target; });
}

}  // namespace tollbar::cores
