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
    automatic,  ///< spins, yields or sleeps at once: learns what pays where it is
    spin,       ///< never yields, never sleeps: for machines with a CPU for each participant and no other load
    yield,      ///< yields without end, never sleeps
    park,       ///< sleeps at once
};

/// How long to try each way of waiting before the next.
struct Patience {
    static constexpr std::uint32_t for_ever = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t spins;         ///< polls with a pause between
    std::uint32_t yields;        ///< polls with a yield between; afterwards the participant sleeps
    bool learns = false;         ///< of that, only what pays as far as the process knows
    Payoff* spinning = nullptr;  ///< what the participant knows itself; none where it never spins
};

/// How the participants of a barrier and the CPUs they may use stand to each other.
enum class Crowding : std::uint8_t {
    unknown,  ///< not everybody has joined: be polite
    roomy,    ///< everybody has a CPU of their own
    crowded,  ///< somebody has to give way
};

/// Yields of one wait at most, where they keep finding fellows. Those that find nobody add up to a wake-up's time
/// sooner.
inline constexpr std::uint32_t most_yields = 64;

template <class Sync>
Patience patience_for(wait_policy policy, Crowding crowding) noexcept {
    switch (policy) {
        case wait_policy::spin: return {Patience::for_ever, 0};
        case wait_policy::yield: return {0, Patience::for_ever};
        case wait_policy::park: return {0, 0};
        case wait_policy::automatic: break;
    }
    return {crowding == Crowding::roomy ? Sync::spins_worth_a_wake() : 0, most_yields, true};
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

/// One yield, and what it says of the company. False beside strangers: then the caller had better sleep. Where yields
/// find nobody they go on: whom nobody wakes has nothing better.
template <class Sync>
bool yield_as_learned() noexcept {
    const Pace& pace = Sync::pace();
    auto& begun = Sync::company();
    const std::uint64_t before = Sync::ticks();
    using Advice = typename Sync::Company::Advice;
    const auto advice = begun.advice(before, pace);
    if (advice == Advice::sleep && begun.here()) return false;
    Sync::yield();
    const std::uint64_t now = Sync::ticks();
    if (now - before > pace.late()) return !Sync::company().late(now, now - before, pace);
    if (advice == Advice::probe)
        begun.gone(now, pace);
    else
        begun.in_time(pace);
    return true;
}

/// How a transport sleeps where nobody wakes the sleeper: it returns at once for as long as polling is worth it,
/// yielding unless `patience` spins, then naps, unless `patience` is for ever. False when the deadline passed.
template <class Sync, class Deadline>
bool nap(Patience patience, Stopwatch& asleep, Deadline deadline) noexcept {
    bool in_company = false;
    if (patience.spins == 0 && patience.learns)
        in_company = !yield_as_learned<Sync>();
    else if (patience.spins == 0)
        Sync::yield();
    const bool naps = patience.spins != Patience::for_ever && patience.yields != Patience::for_ever;
    if (const auto waited = asleep.elapsed(); naps && (in_company || waited > worth_polling))
        Sync::nap_until(sooner(deadline, nap_after(waited)));
    return !deadline.passed();
}

/// What polling has come to.
enum class Polled : std::uint8_t { happened, passed, in_vain };

/// Polls with a pause between, so many times.
template <class Sync, class Awaited, class Deadline>
Polled spin(Awaited& awaited, std::uint32_t times, Deadline deadline) noexcept {
    constexpr std::uint32_t polls_a_look_at_the_clock = 64;
    constexpr std::uint32_t polls_a_turn_of_progress = 1024;

    for (std::uint32_t spins = 0; spins < times || times == Patience::for_ever; ++spins) {
        if (awaited.happened()) return Polled::happened;
        if (spins % polls_a_turn_of_progress == polls_a_turn_of_progress - 1) awaited.progress();
        if (spins % polls_a_look_at_the_clock == polls_a_look_at_the_clock - 1 && deadline.passed())
            return Polled::passed;
        Sync::pause();
    }
    return Polled::in_vain;
}

/// Polls with a yield between, so many times, or while `goes_on` says so after a yield.
template <class Sync, class Awaited, class Deadline, class GoesOn>
Polled yield(Awaited& awaited, std::uint32_t times, Deadline deadline, GoesOn&& goes_on) noexcept {
    constexpr std::uint32_t yields_a_turn_of_progress = 8;

    for (std::uint32_t yields = 0; yields < times || times == Patience::for_ever; ++yields) {
        if (awaited.happened()) return Polled::happened;
        if (yields % yields_a_turn_of_progress == yields_a_turn_of_progress - 1) awaited.progress();
        if (deadline.passed()) return Polled::passed;
        Sync::yield();
        if (!goes_on()) break;
    }
    return Polled::in_vain;
}

/// Polls as long as it pays, as far as the process knows; and learns. Where everybody has a CPU, a yield after a spin
/// could only help a stranger.
template <class Sync, class Awaited, class Deadline>
Polled poll_as_learned(Awaited& awaited, Patience patience, Deadline deadline) noexcept {
    const Pace& pace = Sync::pace();
    Payoff* const spinning = patience.spinning;
    if (patience.spins != 0 && (spinning == nullptr || spinning->has_paid() || spinning->pays(Sync::ticks()))) {
        const Polled polled = spin<Sync>(awaited, patience.spins, deadline);
        if (spinning != nullptr && polled == Polled::happened) spinning->paid();
        if (spinning != nullptr && polled == Polled::in_vain) spinning->failed(Sync::ticks(), pace);
        return polled;
    }

    using Advice = typename Sync::Company::Advice;
    auto& begun = Sync::company();
    std::uint64_t now = Sync::ticks();
    const auto advice = begun.advice(now, pace);
    if (advice == Advice::sleep) return Polled::in_vain;
    std::uint64_t fruitless = 0;
    bool late = false;
    const Polled polled = yield<Sync>(awaited, patience.yields, deadline, [&] {
        const std::uint64_t before = now;
        now = Sync::ticks();
        const std::uint64_t took = now - before;
        if (took > pace.late()) {
            late = true;
            if (Sync::company().late(now, took, pace)) return false;
        }
        if (took < pace.fruitless) fruitless += took;
        return fruitless < pace.wake;
    });
    if (polled == Polled::happened) begun.helped();
    if (polled == Polled::in_vain && 2 * fruitless > pace.wake) begun.fruitless(now, pace);
    if (late) return polled;
    if (advice == Advice::probe)
        begun.gone(now, pace);
    else
        begun.in_time(pace);
    return polled;
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
    Polled polled = Polled::in_vain;
    if (patience.learns) {
        if (awaited.happened()) return true;
        polled = poll_as_learned<Sync>(awaited, patience, deadline);
    } else {
        polled = spin<Sync>(awaited, patience.spins, deadline);
        if (polled == Polled::in_vain) polled = yield<Sync>(awaited, patience.yields, deadline, [] { return true; });
    }
    if (polled == Polled::happened) return true;
    if (polled == Polled::passed) return awaited.happened();

    for (Stopwatch asleep; !awaited.happened();) {
        awaited.progress();
        if (!awaited.sleep(asleep, deadline)) return awaited.happened();
    }
    return true;
}

/// A number that only grows.
template <class Sync>
using Word = typename Sync::template Atomic<std::uint64_t>;

/// How wakers and sleepers of a group agree (docs/design/parking.md).
struct Waking {
    Scope scope = Scope::process;
    bool parks = true;        ///< false: nobody ever sleeps, wakers need not look
    bool asymmetric = false;  ///< true: the waker's fence is free, the sleeper pays with heavy_fence
};

/// Who sleeps on a word, and how they are woken. Kept apart from the words: it is hardly ever written, so looking at it
/// costs the waker no cache miss. Several words may share it if no two threads ever sleep on them at the same time.
///
/// Those who sleep in odd turns and in even ones are told apart: who takes part in every turn never sleeps at the same
/// time as somebody two turns ahead. A release wakes all of its turn, or a few, each of whom wakes a few: a chain
/// (docs/design/parking.md).
template <class Sync>
class alignas(line_bytes) Sleepers {
public:
    /// Memory order: relaxed; the caller's fence orders it before the last look at the word.
    void announce(std::uint64_t turn) noexcept { state_.fetch_add(one(turn), std::memory_order_relaxed); }

    /// Whether the caller, whom a chain may have woken, has to wake others of its turn.
    /// Memory order: relaxed, but reads the newest state, so that it knows of the chain that has woken it.
    bool withdraw(std::uint64_t turn) noexcept {
        const std::uint64_t before = state_.fetch_sub(one(turn), std::memory_order_relaxed);
        return (before & chained(turn)) != 0 && count(before, turn) > 1;
    }

    /// The state, and 0 when nobody sleeps.
    std::uint64_t look(std::memory_order order) const noexcept {
        const std::uint64_t state = state_.load(order);
        return (state & counts) == 0 ? 0 : state;
    }

    /// Wakes those who sleep on `word` for the end of that turn; `seen` is what look() said.
    void wake(const Word<Sync>& word, std::uint64_t seen, std::uint64_t turn, Scope scope) noexcept {
        // Somebody who sleeps in another turn takes part in some turns only, or has been faster than we are.
        const std::uint32_t mask = count(seen, turn + 1) == 0 ? mask_of(turn) : Sync::everybody;
        bool chain = scope == Scope::process && mask != Sync::everybody && count(seen, turn) > Sync::links;
        chain = chain && Sync::company().here() && waves_.chain(Sync::ticks(), Sync::pace());
        if (chain && (seen & chained(turn)) == 0) state_.fetch_or(chained(turn), std::memory_order_relaxed);
        if (!chain && (seen & chained(turn)) != 0) state_.fetch_and(~chained(turn), std::memory_order_relaxed);
        Sync::wake(word, mask, scope, chain ? Sync::links : Sync::all);
    }

    static constexpr std::uint32_t mask_of(std::uint64_t turn) noexcept { return 1U << turn % 2; }

private:
    static constexpr std::uint64_t count_bits = 24;
    static constexpr std::uint64_t one(std::uint64_t turn) noexcept { return 1ULL << turn % 2 * count_bits; }
    static constexpr std::uint64_t chained(std::uint64_t turn) noexcept { return 1ULL << (2 * count_bits + turn % 2); }
    static constexpr std::uint64_t counts = (1ULL << 2 * count_bits) - 1;
    static constexpr std::uint32_t count(std::uint64_t state, std::uint64_t turn) noexcept {
        return state >> turn % 2 * count_bits & ((1U << count_bits) - 1);
    }

    Word<Sync> state_{0};  ///< how many sleep in even and in odd turns, and whether a chain wakes them
    typename Sync::Waves waves_;
};

/// The waker's half, after a plain store to `word` that ends `turn`.
/// Memory order: the store comes before the look at the sleepers; pairs with park().
template <class Sync>
void wake_sleepers(const Word<Sync>& word, Sleepers<Sync>& sleepers, std::uint64_t turn, Waking waking) noexcept {
    if (!waking.parks) return;
    if (waking.asymmetric) {
        Sync::light_fence();
    } else {
        Sync::full_fence();
    }
    if (const auto seen = sleepers.look(std::memory_order_relaxed); seen != 0)
        sleepers.wake(word, seen, turn, waking.scope);
}

/// The waker's half, after a sequentially consistent read-modify-write of `word`, which is a fence already.
/// Memory order: as wake_sleepers().
template <class Sync>
void wake_sleepers_after_add(const Word<Sync>& word, Sleepers<Sync>& sleepers, std::uint64_t turn,
                             Waking waking) noexcept {
    if (!waking.parks) return;
    if (const auto seen = sleepers.look(std::memory_order_seq_cst); seen != 0)
        sleepers.wake(word, seen, turn, waking.scope);
}

/// The sleeper's half: announces itself, looks once more, sleeps until `turn` ends, and wakes others where a chain
/// does that. False when the deadline passed first. A sleeper whose asymmetric fence the kernel refuses may be
/// overlooked, and only naps.
/// Memory order: the announcement comes before the last look, pairs with wake_sleepers(). None otherwise: look again.
template <class Sync, class Deadline>
bool park(const Word<Sync>& word, std::uint64_t target, Sleepers<Sync>& sleepers, std::uint64_t turn, Waking waking,
          Deadline deadline) noexcept {
    sleepers.announce(turn);
    bool is_seen = true;
    if (waking.asymmetric) {
        is_seen = Sync::heavy_fence(waking.scope);
    } else {
        Sync::full_fence();
    }
    const std::uint32_t mask = Sleepers<Sync>::mask_of(turn);
    bool in_time = true;
    for (Stopwatch asleep; in_time;) {
        const std::uint64_t seen = word.load(std::memory_order_relaxed);
        if (seen >= target) break;
        if (is_seen) {
            in_time = Sync::sleep_on(word, seen, mask, waking.scope, deadline);
        } else {
            Sync::sleep_on(word, seen, mask, waking.scope, sooner(deadline, nap_after(asleep.elapsed())));
            in_time = !deadline.passed();
        }
    }
    if (sleepers.withdraw(turn)) Sync::wake(word, mask, waking.scope, Sync::links);
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
        return park(word, target, sleepers, turn, waking, deadline);
    }

    const Word<Sync>& word;
    std::uint64_t target;
    Sleepers<Sync>& sleepers;
    std::uint64_t turn;  ///< the number of the one that ends then
    Waking waking;
};

}  // namespace tollbar
