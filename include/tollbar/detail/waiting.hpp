// SPDX-License-Identifier: Apache-2.0
// How a participant waits: spin, then yield, then sleep. The one wait loop, what it is told, and how nobody sleeps for
// ever (docs/design/waiting.md).
#pragma once

#include <tollbar/detail/sync.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace tollbar {

/// What a user asks for. Spelled auto, spin, yield, park in TOLLBAR_WAIT and everywhere else.
enum class wait_policy : std::uint8_t {
    automatic,  ///< spins if every participant has a CPU, yields a few times, then sleeps
    spin,       ///< never yields, never sleeps: for machines with a CPU for each participant and no other load
    yield,      ///< yields without end, never sleeps
    park,       ///< yields twice, then sleeps (a processor's representative first polls for as long as a wake-up takes)
};

/// How long to try each way of waiting before the next.
struct Patience {
    static constexpr std::uint32_t for_ever = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t spins;   ///< polls with a pause between
    std::uint32_t yields;  ///< polls with a yield between; afterwards the participant sleeps
};

/// How the participants of a barrier and the CPUs they may use stand to each other.
enum class Crowding : std::uint8_t {
    unknown,  ///< not everybody has joined: be polite
    roomy,    ///< everybody has a CPU of their own
    crowded,  ///< somebody has to give way
};

/// Yields before sleeping. One is not enough when two share a CPU; eight reach what yielding for ever does inside
/// one scheduler group, and beat both it and sleeping at once between groups (docs/design/waiting.md).
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

/// The time that a participant has spent asleep in one wait. Most waits are over before the clock is worth a look.
class Stopwatch {
public:
    using Clock = std::chrono::steady_clock;

    Stopwatch() = default;
    explicit Stopwatch(Clock::time_point since) noexcept : since_(since) {}

    /// Since it was asked first, unless another beginning was given.
    Clock::duration elapsed() noexcept {
        const auto now = Clock::now();
        if (since_ == Clock::time_point{}) since_ = now;
        return now - since_;
    }

private:
    Clock::time_point since_{};
};

/// How long to sleep where nobody wakes the sleeper, or where something else has to get on meanwhile: a small part of
/// what was waited already. Who waits for long costs little CPU (a look at an MPI takes about 10 us), who waits shortly
/// is not late.
inline Stopwatch::Clock::duration nap_after(Stopwatch::Clock::duration waited) noexcept {
    using namespace std::chrono_literals;
    return std::clamp<Stopwatch::Clock::duration>(waited / 32, 200us, 4ms);
}

/// How long to poll where nobody wakes the sleeper, before the first nap. A message between hosts takes 10 to 100 us.
inline constexpr std::chrono::milliseconds worth_polling{2};

/// The sooner of a deadline and the end of a nap that begins now.
inline Deadline sooner(Never, Stopwatch::Clock::duration nap) noexcept { return deadline_after(nap); }
inline Deadline sooner(Deadline deadline, Stopwatch::Clock::duration nap) noexcept {
    return {std::min(deadline.at, deadline_after(nap).at)};
}

/// How a transport sleeps where nobody wakes the sleeper: it returns at once for as long as polling is worth it,
/// yielding unless `patience` spins, then naps, unless `patience` is for ever. False when the deadline passed.
template <class Sync, class Deadline>
bool nap(Patience patience, Stopwatch& asleep, Deadline deadline) noexcept {
    if (patience.spins == 0) Sync::yield();
    const bool naps = patience.spins != Patience::for_ever && patience.yields != Patience::for_ever;
    if (const auto waited = asleep.elapsed(); naps && waited > worth_polling)
        Sync::nap_until(sooner(deadline, nap_after(waited)));
    return !deadline.passed();
}

/// The one wait loop. Waits until `awaited` has happened; false when the deadline passed first, and may be called
/// again. What is awaited has three functions:
///
///     bool happened()                     a cheap look, never blocks
///     void progress()                     what has to be kept going meanwhile
///     bool sleep(Stopwatch&, Deadline)    sleeps until it may have happened; false when the deadline passed first
///
/// Memory order: that of `happened`.
template <class Sync, class Awaited, class Deadline>
bool wait(Awaited&& awaited, Patience patience, Deadline deadline) noexcept {
    constexpr std::uint32_t polls_a_look_at_the_clock = 64;
    constexpr std::uint32_t polls_a_turn_of_progress = 1024;

    for (std::uint32_t spins = 0; spins < patience.spins || patience.spins == Patience::for_ever; ++spins) {
        if (awaited.happened()) return true;
        if (spins % polls_a_turn_of_progress == polls_a_turn_of_progress - 1) awaited.progress();
        if (spins % polls_a_look_at_the_clock == polls_a_look_at_the_clock - 1 && deadline.passed())
            return awaited.happened();
        Sync::pause();
    }
    for (std::uint32_t yields = 0; yields < patience.yields || patience.yields == Patience::for_ever; ++yields) {
        if (awaited.happened()) return true;
        if (yields % bounded_yields == bounded_yields - 1) awaited.progress();
        if (deadline.passed()) return awaited.happened();
        Sync::yield();
    }
    for (Stopwatch asleep; !awaited.happened();) {
        awaited.progress();
        if (!awaited.sleep(asleep, deadline)) return awaited.happened();
    }
    return true;
}

/// How many participants sleep on a word. Kept apart from the words: it is hardly ever written, so looking at it costs
/// the waker no cache miss.
template <class Sync>
struct alignas(line_bytes) Sleepers {
    typename Sync::template Atomic<std::uint32_t> count{0};
};

/// A number that only grows.
template <class Sync>
using Word = typename Sync::template Atomic<std::uint64_t>;

/// How wakers and sleepers of a group agree (docs/design/parking.md).
struct Waking {
    Scope scope = Scope::process;
    bool parks = true;        ///< false: nobody ever sleeps, wakers need not look
    bool asymmetric = false;  ///< true: the waker's fence is free, the sleeper pays with heavy_fence
};

/// The waker's half, after a plain store to `word`.
/// Memory order: the store comes before the look at the sleepers; pairs with park().
template <class Sync>
void wake_sleepers(const Word<Sync>& word, const Sleepers<Sync>& sleepers, Waking waking) noexcept {
    if (!waking.parks) return;
    if (waking.asymmetric) {
        Sync::light_fence();
    } else {
        Sync::full_fence();
    }
    if (sleepers.count.load(std::memory_order_relaxed) != 0) Sync::wake_all(word, waking.scope);
}

/// The waker's half, after a sequentially consistent read-modify-write of `word`, which is a fence already.
/// Memory order: as wake_sleepers().
template <class Sync>
void wake_sleepers_after_add(const Word<Sync>& word, const Sleepers<Sync>& sleepers, Waking waking) noexcept {
    if (!waking.parks) return;
    if (sleepers.count.load(std::memory_order_seq_cst) != 0) Sync::wake_all(word, waking.scope);
}

/// The sleeper's half: announces itself, looks once more, sleeps. False when the deadline passed first.
/// Memory order: the announcement comes before the last look, pairs with wake_sleepers(). None otherwise: look again.
template <class Sync, class Deadline>
bool park(const Word<Sync>& word, std::uint64_t target, Sleepers<Sync>& sleepers, Waking waking,
          Deadline deadline) noexcept {
    sleepers.count.fetch_add(1, std::memory_order_relaxed);
    if (waking.asymmetric) {
        Sync::heavy_fence(waking.scope);
    } else {
        Sync::full_fence();
    }
    bool in_time = true;
    while (in_time) {
        const std::uint64_t seen = word.load(std::memory_order_relaxed);
        if (seen >= target) break;
        in_time = Sync::sleep_on(word, seen, waking.scope, deadline);
    }
    sleepers.count.fetch_sub(1, std::memory_order_relaxed);
    return in_time;
}

/// A word that is to reach a number, for wait().
template <class Sync>
struct AwaitedWord {
    /// Memory order: acquire, pairs with the release (or stronger) of whoever made the word grow.
    bool happened() const noexcept { return word.load(std::memory_order_acquire) >= target; }
    void progress() const noexcept {}

    template <class Deadline>
    bool sleep(Stopwatch&, Deadline deadline) const noexcept {
        return park(word, target, sleepers, waking, deadline);
    }

    const Word<Sync>& word;
    std::uint64_t target;
    Sleepers<Sync>& sleepers;
    Waking waking;
};

}  // namespace tollbar
