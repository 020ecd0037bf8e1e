// SPDX-License-Identifier: Apache-2.0
// The Sync policy under which the thread algorithms run in the model checker, and the tolls that show whether
// they are barriers.
#pragma once

#include "machine.hpp"
#include "relacy.hpp"

#include <tollbar/detail/neighbours.hpp>
#include <tollbar/detail/sync.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace tollbar::model {

using namespace detail;

inline unsigned self() { return rl::thread_index(); }

/// A full fence, which in the checker also makes what came before an earlier one visible after a later one:
/// more than the language gives, so tests of acquire and release let nobody park.
inline void fence() {
    rl::atomic_thread_fence(rl::mo_seq_cst, RL_INFO);
    machine.wrote_in_total_order[self()] = false;
}

/// A deadline that has passed, or not, as the checker chooses; once passed it stays so.
class Sometime {
public:
    bool passed() const noexcept {
        if (!over_) over_ = rl::rand(2) == 0;
        return over_;
    }

private:
    mutable bool over_ = false;
};

/// A nap ends when it does; the model has no clock.
template <class Nap>
Sometime sooner(Sometime deadline, Nap) noexcept {
    return deadline;
}

/// What NativeSync promises, and as little more as the checker allows.
///
/// Sequential consistency: relacy does not order a sequentially consistent load after an earlier sequentially
/// consistent write of the same thread to another word, which the language does. A fence between the two gives
/// exactly the compilation scheme "fence before each sequentially consistent load", and only when both are.
///
/// The asymmetric fence is two full fences. That is what membarrier(2) documents: with MEMBARRIER_CMD_*_EXPEDITED
/// on one side, a compiler barrier on the other is ordered as a full barrier would be.
///
/// The futex: the comparison and going to sleep are one step. Of the word, the comparison sees any value that a
/// relaxed load may see, but none older than what the last waker of this word knew when it woke: that much the
/// kernel's lock of the wait queue gives, and without it futexes would be of no use. Waking orders nothing for
/// the program: a woken thread may still load an old value. A wake-up that is not for all reaches any of the sleepers.
/// Sleepers may wake for no reason.
///
/// A process's learning is arbitrary: whether there is a neighbour, how long something took and how many to wake
/// are the checker's choice.
struct RelacySync {
    template <class T>
    class Atomic;

    static void pause() noexcept { yield(); }

    /// After the checker's yield a thread no longer loads an old value it has loaded before. An exhaustive search
    /// needs that, or it follows a thread that does so for ever; a random one is without it, to see more.
    static void yield() noexcept {
        if (rl::ctx().is_random_sched()) {
            rl::ctx().sched();
        } else {
            rl::yield(1, RL_INFO);
        }
    }

    /// Threads run anywhere.
    static std::uint32_t group() noexcept { return rl::rand(2); }
    static std::uint32_t cpu() noexcept { return rl::rand(2); }

    static void full_fence() noexcept {
        if (!machine.weakening.full_fence) fence();
    }

    static void light_fence() noexcept {
        if (!machine.weakening.light_fence) fence();
    }

    static bool heavy_fence(Scope) noexcept {
        if (!machine.weakening.heavy_fence) fence();
        return true;
    }

    static std::uint64_t ticks() noexcept { return machine.ticks += rl::rand(2) == 0 ? 1 : 1000; }

    static const Pace& pace() noexcept {
        static constexpr Pace pace{.ticks_per_us = 1, .fruitless = 2};
        return pace;
    }

    using Backoff = tollbar::detail::Backoff;

    struct Neighbours {
        enum class Advice : std::uint8_t { yield, probe, sleep };

        Advice advice(std::uint64_t, const Pace&) noexcept { return static_cast<Advice>(rl::rand(3)); }
        bool late(std::uint64_t, std::uint64_t, const Pace&) noexcept { return rl::rand(2) == 0; }
        void in_time() noexcept {}
        void helped() noexcept {}
        void fruitless(std::uint64_t, const Pace&) noexcept {}
        void gone(std::uint64_t) noexcept {}
        bool here() const noexcept { return rl::rand(2) == 0; }
    };

    static Neighbours& neighbours() noexcept {
        static Neighbours neighbours;
        return neighbours;
    }

    static constexpr std::uint32_t everybody = ~std::uint32_t{0};

    template <class Deadline>
    static bool sleep_on(const Atomic<std::uint64_t>& word, std::uint64_t seen, std::uint32_t mask, Scope,
                         Deadline) noexcept;

    static void wake(const Atomic<std::uint64_t>& word, std::uint32_t mask, Scope) noexcept;

    static std::uint32_t spins_worth_a_wake() noexcept { return 1; }
};

/// std::atomic as the algorithms use it.
template <class T>
class RelacySync::Atomic {
public:
    Atomic() : Atomic(T{}) {}
    Atomic(T value) : cell_(encode(value)) {}

    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    T load(std::memory_order order) const noexcept {
        const Weakening& weak = machine.weakening;
        if (order == std::memory_order_seq_cst && !weak.look_fence) {
            if (machine.wrote_in_total_order[self()]) fence();
            return note(cell_.load(rl::mo_seq_cst, RL_INFO));
        }
        const bool acquires = order == std::memory_order_acquire && !weak.load_acquire;
        return note(cell_.load(acquires ? rl::mo_acquire : rl::mo_relaxed, RL_INFO));
    }

    void store(T value, std::memory_order order) noexcept {
        const bool releases = order == std::memory_order_release && !machine.weakening.store_release;
        cell_.store(encode(value), releases ? rl::mo_release : rl::mo_relaxed, RL_INFO);
        note(encode(value));
    }

    T fetch_add(T value, std::memory_order order) noexcept {
        const std::uint64_t before = cell_.fetch_add(encode(value), addition(order), RL_INFO);
        note(before + encode(value));
        return decode(before);
    }

    T fetch_sub(T value, std::memory_order order) noexcept {
        const std::uint64_t before = cell_.fetch_sub(encode(value), addition(order), RL_INFO);
        return decode(before);
    }

    T fetch_or(T value, std::memory_order order) noexcept {
        const std::uint64_t before = cell_.fetch_or(encode(value), addition(order), RL_INFO);
        note(before | encode(value));
        return decode(before);
    }

    T fetch_and(T value, std::memory_order) noexcept {
        return decode(cell_.fetch_and(encode(value), rl::mo_relaxed, RL_INFO));
    }

    bool compare_exchange_weak(T& expected, T desired, std::memory_order done, std::memory_order failed) noexcept {
        std::uint64_t seen = encode(expected);
        const bool acquires = failed == std::memory_order_acquire;
        const auto order = done == std::memory_order_acq_rel   ? rl::mo_acq_rel
                           : done == std::memory_order_release ? rl::mo_release
                           : done == std::memory_order_acquire ? rl::mo_acquire
                                                               : rl::mo_relaxed;
        const bool was = cell_.compare_exchange(rl::bool_t<true>(), seen, encode(desired), order,
                                                acquires ? rl::mo_acquire : rl::mo_relaxed, RL_INFO);
        if (was) note(encode(desired));
        expected = decode(seen);
        return was;
    }

private:
    friend struct RelacySync;

    static std::uint64_t encode(T value) noexcept { return static_cast<std::uint64_t>(value); }
    static T decode(std::uint64_t value) noexcept { return static_cast<T>(value); }

    T note(std::uint64_t value) const noexcept {
        known_[self()] = std::max(known_[self()], value);
        return decode(value);
    }

    static rl::memory_order addition(std::memory_order order) noexcept {
        const Weakening& weak = machine.weakening;
        if (order == std::memory_order_release && !weak.add_all && !weak.add_release) return rl::mo_release;
        if (order != std::memory_order_seq_cst || weak.add_all) return rl::mo_relaxed;
        if (weak.add_release) return rl::mo_acquire;
        if (weak.add_acquire) return rl::mo_release;
        if (weak.add_fence) return rl::mo_acq_rel;
        machine.wrote_in_total_order[self()] = true;
        return rl::mo_seq_cst;
    }

    rl::atomic<std::uint64_t> cell_;
    mutable std::array<std::uint64_t, max_threads> known_{};  ///< by thread: the largest value it wrote or loaded
    mutable std::uint64_t told_ = 0;                          ///< what the last waker knew
};

template <class Deadline>
bool RelacySync::sleep_on(const Atomic<std::uint64_t>& word, std::uint64_t seen, std::uint32_t mask, Scope,
                          Deadline deadline) noexcept {
    if (deadline.passed()) return false;
    const std::uint64_t now = std::max(word.cell_.load(rl::mo_relaxed, RL_INFO), word.told_);
    rl::unpark_reason reason = rl::unpark_reason_normal;
    // The checker does not switch threads between a load and the next operation.
    if (static_cast<std::uint32_t>(now) == static_cast<std::uint32_t>(seen)) {
        machine.asleep_at[self()] = &word;
        machine.mask[self()] = mask;
        // A random search wakes for no reason so often that hardly anybody would oversleep a lost wake-up.
        const bool spurious = !rl::ctx().is_random_sched() || rl::rand(8) == 0;
        reason = rl::ctx().park_current_thread(!std::is_same_v<Deadline, Never>, spurious, false, RL_INFO);
        machine.asleep_at[self()] = nullptr;
    }
    yield();
    return reason != rl::unpark_reason_timeout;
}

inline void RelacySync::wake(const Atomic<std::uint64_t>& word, std::uint32_t mask, Scope) noexcept {
    rl::ctx().sched();
    word.told_ = std::max(word.told_, word.known_[self()]);
    for (unsigned thread = 0; thread < max_threads; ++thread) {
        if (machine.asleep_at[thread] != &word || (machine.mask[thread] & mask) == 0) continue;
        machine.asleep_at[thread] = nullptr;
        rl::ctx().unpark_thread(static_cast<rl::thread_id_t>(thread), false, RL_INFO);
    }
}

/// What every participant pays before the barrier and reads of all others after it, in variables whose races the
/// checker sees. Two sets, for odd and even episodes: paying the next but one races with reading this one unless
/// the barrier between orders them.
class Tolls {
public:
    explicit Tolls(unsigned participants) : participants_(participants) {}

    void pay(unsigned participant, std::uint64_t episode) { paid_[episode % 2][participant](RL_INFO) = episode; }

    /// That everybody of the first `participants` has paid for this episode.
    void check(std::uint64_t episode, unsigned participants) const {
        for (unsigned i = 0; i < participants; ++i) {
            const std::uint64_t paid = paid_[episode % 2][i](RL_INFO);
            RL_ASSERT(paid == episode);
        }
    }

    void check(std::uint64_t episode) const { check(episode, participants_); }

private:
    using Toll = rl::var<std::uint64_t>;
    unsigned participants_;
    std::array<std::array<Toll, max_threads>, 2> paid_;
};

}  // namespace tollbar::model
