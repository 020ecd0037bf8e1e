// SPDX-License-Identifier: Apache-2.0
// How a participant waits for a word to grow: spin, then yield, then park; and how nobody sleeps for ever.
#pragma once

#include <tollbar/sync.hpp>

#include <cstdint>
#include <limits>

namespace tollbar {

/// What a user asks for. Spelled auto, spin, yield, park in TOLLBAR_WAIT and everywhere else.
enum class wait_policy : std::uint8_t {
    automatic,  ///< spins only while every participant has a CPU, yields a few times, then parks
    spin,       ///< never gives the CPU away: for one participant a CPU, nothing else running
    yield,      ///< gives way for ever, never sleeps
    park,  ///< gives way twice, then sleeps (a processor's representative first polls for as long as a wake-up takes)
};

/// How long to try each way of waiting before the next.
struct Patience {
    static constexpr std::uint32_t for_ever = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t spins;   ///< polls with a pause between
    std::uint32_t yields;  ///< polls with a yield between; afterwards the participant parks
};

/// How the participants of a barrier and the CPUs they may use stand to each other.
enum class Crowding : std::uint8_t {
    unknown,  ///< not everybody has joined: be polite
    roomy,    ///< everybody has a CPU of their own
    crowded,  ///< somebody has to give way
};

/// Yields before parking. One is not enough when two share a CPU; eight reach what yielding for ever does inside
/// one scheduler group, and beat both it and parking at once between groups (docs/design/waiting.md).
inline constexpr std::uint32_t bounded_yields = 8;

/// Yields before sleeping where sleeping is asked for: enough to find that the others only needed the CPU.
inline constexpr std::uint32_t yields_before_sleep = 2;

template <class Sync>
Patience patience_for(wait_policy policy, Crowding crowding) noexcept {
    switch (policy) {
        case wait_policy::spin: return {Patience::for_ever, 0};
        case wait_policy::yield: return {0, Patience::for_ever};
        case wait_policy::park: return {0, yields_before_sleep};
        case wait_policy::automatic: break;
    }
    return {crowding == Crowding::roomy ? Sync::spins_worth_a_wake() : 0, bounded_yields};
}

/// Who sleeps. Kept apart from the words themselves: it is hardly ever written, so looking at it costs the
/// waker no cache miss.
template <class Sync>
struct alignas(line_bytes) Bell {
    typename Sync::template Atomic<std::uint32_t> sleepers{0};
};

/// A number that only grows.
template <class Sync>
using Word = typename Sync::template Atomic<std::uint64_t>;

/// How wakers and sleepers of a group agree (docs/design/parking.md).
struct Ringing {
    Scope scope = Scope::process;
    bool parks = true;        ///< false: nobody ever sleeps, wakers need not look
    bool asymmetric = false;  ///< true: the waker's fence is free, the sleeper pays with heavy_fence
};

/// The waker's half, after a plain store to `word`.
/// Memory order: the store comes before the look at the sleepers; pairs with park().
template <class Sync>
void ring(const Word<Sync>& word, const Bell<Sync>& bell, Ringing ringing) noexcept {
    if (!ringing.parks) return;
    if (ringing.asymmetric) {
        Sync::light_fence();
    } else {
        Sync::full_fence();
    }
    if (bell.sleepers.load(std::memory_order_relaxed) != 0) Sync::wake_all(word, ringing.scope);
}

/// The waker's half, after a sequentially consistent read-modify-write of `word`, which is a fence already.
/// Memory order: as ring().
template <class Sync>
void ring_after_add(const Word<Sync>& word, const Bell<Sync>& bell, Ringing ringing) noexcept {
    if (!ringing.parks) return;
    if (bell.sleepers.load(std::memory_order_seq_cst) != 0) Sync::wake_all(word, ringing.scope);
}

/// The sleeper's half: announces itself, looks once more, sleeps. False when the deadline passed first.
/// Memory order: acquire on the word; the announcement comes before the last look, pairs with ring().
template <class Sync, class Deadline>
bool park(const Word<Sync>& word, std::uint64_t target, Bell<Sync>& bell, Ringing ringing, Deadline deadline) noexcept {
    bell.sleepers.fetch_add(1, std::memory_order_relaxed);
    if (ringing.asymmetric) {
        Sync::heavy_fence(ringing.scope);
    } else {
        Sync::full_fence();
    }
    bool reached = false;
    for (bool in_time = true; in_time;) {
        const std::uint64_t seen = word.load(std::memory_order_acquire);
        reached = seen >= target;
        if (reached) break;
        in_time = Sync::sleep_on(word, seen, ringing.scope, deadline);
    }
    bell.sleepers.fetch_sub(1, std::memory_order_relaxed);
    return reached || word.load(std::memory_order_acquire) >= target;
}

/// Waits until `word` has reached `target`. False when the deadline passed first; may be called again.
/// Memory order: acquire on the word, pairs with the release (or stronger) of whoever made it grow.
template <class Sync, class Deadline>
bool await(const Word<Sync>& word, std::uint64_t target, Bell<Sync>& bell, Patience patience, Ringing ringing,
           Deadline deadline) noexcept {
    const auto reached = [&] { return word.load(std::memory_order_acquire) >= target; };
    constexpr std::uint32_t polls_a_look_at_the_clock = 64;

    for (std::uint32_t spins = 0; spins < patience.spins || patience.spins == Patience::for_ever; ++spins) {
        if (reached()) return true;
        if (spins % polls_a_look_at_the_clock == polls_a_look_at_the_clock - 1 && deadline.passed()) return reached();
        Sync::pause();
    }
    for (std::uint32_t yields = 0; yields < patience.yields || patience.yields == Patience::for_ever; ++yields) {
        if (reached()) return true;
        if (deadline.passed()) return reached();
        Sync::yield();
    }
    return reached() || park(word, target, bell, ringing, deadline);
}

}  // namespace tollbar
