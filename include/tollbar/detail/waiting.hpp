// SPDX-License-Identifier: Apache-2.0
// How a participant waits: it spins or yields, then sleeps. The one wait loop, its limits, and the protocol by which
// every sleeper is woken (docs/design/waiting.md).
#pragma once

#include <tollbar/detail/sync.hpp>
#include <tollbar/detail/wait_policy.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

#pragma GCC visibility push(default)
namespace tollbar::detail {

/// How long to try each way of waiting before the next. A participant that spins does not yield afterwards: where
/// all have a CPU, a yield can only help a neighbour.
template <class Backoff>
struct BasicWaitBudget {
    static constexpr std::uint32_t for_ever = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t spins;          ///< polls with a pause between
    std::uint32_t yields;         ///< polls with a yield between, where it does not spin; then the participant sleeps
    Backoff* spinning = nullptr;  ///< whether spinning has paid for those who wait for the same; none: spins always
};

using WaitBudget = BasicWaitBudget<detail::Backoff>;

/// Whether so many yields are tried only while they pay, as far as the process knows.
constexpr bool learns_from(std::uint32_t yields) noexcept { return yields != 0 && yields != WaitBudget::for_ever; }

/// Whether the participants of a barrier have a CPU each.
enum class Occupancy : std::uint8_t {
    unknown,         ///< not everybody has joined: be polite
    exclusive,       ///< everybody has a CPU of their own
    oversubscribed,  ///< there are more participants than CPUs
};

/// Yields of one wait at most, where they keep finding threads to give way to. Yields that find none add up to a
/// wake-up's time sooner.
inline constexpr std::uint32_t most_yields = 64;

template <class Sync>
BasicWaitBudget<typename Sync::Backoff> wait_budget_for(wait_policy policy, Occupancy occupancy) noexcept {
    switch (policy) {
        case wait_policy::spin: return {WaitBudget::for_ever, 0};
        case wait_policy::yield: return {0, WaitBudget::for_ever};
        case wait_policy::park: return {0, 0};
        case wait_policy::automatic: break;
    }
    return {occupancy == Occupancy::exclusive ? Sync::spins_worth_a_wake() : 0, most_yields};
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

/// How long to sleep where nothing wakes the sleeper, or where something else has to get on meanwhile: a small part of
/// the time waited already. So a long wait costs little CPU (a look at an MPI takes about 10 us), and a short one ends
/// in time.
inline Stopwatch::Clock::duration nap_after(Stopwatch::Clock::duration waited) noexcept {
    using namespace std::chrono_literals;
    return std::clamp<Stopwatch::Clock::duration>(waited / 32, 200us, 4ms);
}

/// How long to poll where nothing wakes the sleeper, before the first nap. A message between hosts takes 10 to 100 us.
inline constexpr std::chrono::milliseconds worth_polling{2};

/// The sooner of a deadline and the end of a nap that begins now.
inline Deadline sooner(Never, Stopwatch::Clock::duration nap) noexcept { return deadline_after(nap); }
inline Deadline sooner(Deadline deadline, Stopwatch::Clock::duration nap) noexcept {
    return {std::min(deadline.at, deadline_after(nap).at)};
}

/// The outcome of polling.
enum class Polled : std::uint8_t { happened, passed, in_vain };

/// The yields of one wait, and what they say of the CPU's neighbours.
template <class Sync>
class Observation {
public:
    using Advice = typename Sync::Neighbours::Advice;

    Observation() noexcept : begun_(Sync::neighbours()), now_(Sync::ticks()), advice_(begun_.advice(now_, pace_)) {}

    bool neighbours_here() const noexcept { return begun_.here(); }
    bool sleeps_at_once() const noexcept { return advice_ == Advice::sleep; }

    /// Whether the yields that found no thread to give way to have taken as long as a wake-up.
    bool alone() const noexcept { return fruitless_ >= pace_.ticks(wake_us); }

    bool found_nobody() const noexcept { return !found_thread_ && !late_; }

    /// After a yield; false where neighbours made it late: then the caller had better sleep.
    bool yielded() noexcept {
        const std::uint64_t before = std::exchange(now_, Sync::ticks());
        const std::uint64_t took = now_ - before;
        if (took < pace_.fruitless) fruitless_ += took;
        if (took <= pace_.ticks(late_us)) return found_thread_ |= took >= pace_.fruitless, true;
        late_ = true;
        return !Sync::neighbours().late(now_, took, pace_);
    }

    /// After the last yield, and what the wait has come to.
    void finish(Polled polled) noexcept {
        if (polled == Polled::happened) begun_.helped();
        if (polled == Polled::in_vain && 2 * fruitless_ > pace_.ticks(wake_us)) begun_.fruitless(now_, pace_);
        if (!late_ && advice_ == Advice::probe) begun_.gone(now_);
        if (!late_ && advice_ != Advice::probe) begun_.in_time();
    }

private:
    const Pace& pace_ = Sync::pace();
    typename Sync::Neighbours& begun_;  ///< of the CPU on which the wait began
    std::uint64_t now_;
    Advice advice_;
    std::uint64_t fruitless_ = 0;
    bool late_ = false;
    bool found_thread_ = false;  ///< a yield has let another thread run here for a while, as threads of ours do
};

/// The party that a yield has given way to.
enum class YieldedTo : std::uint8_t { nobody, thread, neighbour };

/// One yield; none beside neighbours, where the caller had better sleep.
template <class Sync>
YieldedTo yield_once() noexcept {
    Observation<Sync> seen;
    if (seen.sleeps_at_once() && seen.neighbours_here()) return YieldedTo::neighbour;
    Sync::yield();
    const bool goes_on = seen.yielded();
    seen.finish(Polled::passed);
    return !goes_on ? YieldedTo::neighbour : seen.found_nobody() ? YieldedTo::nobody : YieldedTo::thread;
}

/// How a transport sleeps where nothing wakes the sleeper: it returns at once for as long as polling is worth it,
/// yielding unless `budget` spins, then naps, unless `budget` is for ever. False when the deadline passed.
template <class Sync, class Deadline>
bool nap(WaitBudget budget, Stopwatch& asleep, Deadline deadline) noexcept {
    bool naps_at_once = false;
    if (budget.spins == 0 && learns_from(budget.yields))
        naps_at_once = yield_once<Sync>() == YieldedTo::neighbour;
    else if (budget.spins == 0)
        Sync::yield();
    const bool naps = budget.spins != WaitBudget::for_ever && budget.yields != WaitBudget::for_ever;
    if (const auto waited = asleep.elapsed(); naps && (naps_at_once || waited > worth_polling))
        Sync::nap_until(sooner(deadline, nap_after(waited)));
    return !deadline.passed();
}

/// Polls `times`, with a pause after each.
template <class Sync, class Awaited, class Deadline>
Polled spin(Awaited& awaited, std::uint32_t times, Deadline deadline) noexcept {
    constexpr std::uint32_t polls_a_look_at_the_clock = 64;
    constexpr std::uint32_t polls_a_turn_of_progress = 1024;

    for (std::uint32_t spins = 0; spins < times || times == WaitBudget::for_ever; ++spins) {
        if (awaited.happened()) return Polled::happened;
        if (spins % polls_a_turn_of_progress == polls_a_turn_of_progress - 1) awaited.progress();
        if (spins % polls_a_look_at_the_clock == polls_a_look_at_the_clock - 1 && deadline.passed())
            return Polled::passed;
        Sync::pause();
    }
    return Polled::in_vain;
}

/// Polls with a yield between, `times` at most, while `goes_on` says so after a yield.
template <class Sync, class Awaited, class Deadline, class GoesOn>
Polled yield(Awaited& awaited, std::uint32_t times, Deadline deadline, GoesOn&& goes_on) noexcept {
    constexpr std::uint32_t yields_a_turn_of_progress = 8;

    for (std::uint32_t yields = 0; yields < times || times == WaitBudget::for_ever; ++yields) {
        if (awaited.happened()) return Polled::happened;
        if (yields % yields_a_turn_of_progress == yields_a_turn_of_progress - 1) awaited.progress();
        if (deadline.passed()) return Polled::passed;
        Sync::yield();
        if (!goes_on()) break;
    }
    return Polled::in_vain;
}

/// Yields as long as it pays, as far as the process knows, `times` at most; and learns.
template <class Sync, class Awaited, class Deadline>
Polled yield_while_it_pays(Awaited& awaited, std::uint32_t times, Deadline deadline) noexcept {
    Observation<Sync> seen;
    if (seen.sleeps_at_once()) return Polled::in_vain;
    const Polled polled = yield<Sync>(awaited, times, deadline, [&] { return seen.yielded() && !seen.alone(); });
    seen.finish(polled);
    return polled;
}

/// The second half of wait(): yields, `yields` times at most, and then sleeps.
template <class Sync, class Awaited, class Deadline>
[[gnu::noinline]] bool give_way(Awaited awaited, std::uint32_t yields, Deadline deadline) noexcept {
    const Polled polled = learns_from(yields) ? yield_while_it_pays<Sync>(awaited, yields, deadline)
                                              : yield<Sync>(awaited, yields, deadline, [] { return true; });
    if (polled != Polled::in_vain) return polled == Polled::happened || awaited.happened();
    for (Stopwatch asleep; !awaited.happened();) {
        awaited.progress();
        if (!awaited.sleep(asleep, deadline)) return awaited.happened();
    }
    return true;
}

/// The part of wait() in which most waits end: spins, and sleeps if that is in vain. Nothing is called and no clock
/// read before the spin is over. `trusted`: no spin has failed since one paid.
template <class Sync, class Awaited, class Deadline>
[[gnu::always_inline]] inline bool spin_and_sleep(Awaited awaited, std::uint32_t spins,
                                                  typename Sync::Backoff* spinning, bool trusted,
                                                  Deadline deadline) noexcept {
    const Polled polled = spin<Sync>(awaited, spins, deadline);
    if (polled == Polled::happened && !trusted) spinning->paid();
    if (polled == Polled::happened) return true;
    if (polled == Polled::passed) return awaited.happened();
    if (spinning != nullptr) spinning->failed(Sync::ticks(), Sync::pace());
    return give_way<Sync>(awaited, 0, deadline);
}

/// The one wait loop. Waits until `awaited` has happened; false when the deadline passed first, and may be called
/// again. `awaited` has three functions:
///
///     bool happened()                     a cheap look, never blocks
///     void progress()                     what has to be kept going meanwhile
///     bool sleep(Stopwatch&, Deadline)    sleeps until it may have happened; false when the deadline passed first
///
/// Memory order: that of `happened`.
template <class Sync, class Awaited, class Deadline>
bool wait(Awaited&& awaited, BasicWaitBudget<typename Sync::Backoff> budget, Deadline deadline) noexcept {
    auto* const spinning = budget.spins == WaitBudget::for_ever ? nullptr : budget.spinning;
    const bool trusted = spinning == nullptr || spinning->has_paid();
    if (budget.spins == 0 || !trusted) {
        if (awaited.happened()) return true;
        if (budget.spins == 0 || !spinning->pays(Sync::ticks()))
            return give_way<Sync>(awaited, budget.yields, deadline);
    }
    return spin_and_sleep<Sync>(awaited, budget.spins, spinning, trusted, deadline);
}

/// A number that only grows.
template <class Sync>
using Word = typename Sync::template Atomic<std::uint64_t>;

/// How wakers and sleepers of a group agree (docs/design/parking.md).
struct Waking {
    Scope scope = Scope::process;
    bool parks = true;        ///< false: no participant ever sleeps, wakers need not look
    bool asymmetric = false;  ///< true: the waker's fence is free, the sleeper pays with heavy_fence
};

/// The sleepers on a word, and how they are woken, in 8 bytes. Several words may share it if no two threads ever sleep
/// on them at the same time.
///
/// Sleepers of odd episodes and of even ones are told apart: a thread that takes part in every episode never sleeps at
/// the same time as one that is two episodes ahead. A release wakes all of its episode.
template <class Sync>
class SleeperCounts {
public:
    /// Memory order: relaxed; the caller's fence orders it before the last look at the word.
    void announce(std::uint64_t episode) noexcept { state_.fetch_add(one(episode), std::memory_order_relaxed); }

    /// Memory order: relaxed; a release that still sees the caller wakes it in vain.
    void withdraw(std::uint64_t episode) noexcept { state_.fetch_sub(one(episode), std::memory_order_relaxed); }

    /// The state, and 0 when no thread sleeps.
    std::uint64_t look(std::memory_order order) const noexcept { return state_.load(order); }

    /// Wakes the threads that sleep on `word` for the end of that episode; `seen` is the result of look().
    void wake(const Word<Sync>& word, std::uint64_t seen, std::uint64_t episode, Scope scope) noexcept {
        // A thread that sleeps in another episode takes part in some episodes only, or has been faster than the caller.
        Sync::wake(word, count(seen, episode + 1) == 0 ? mask_of(episode) : Sync::everybody, scope);
    }

    static constexpr std::uint32_t mask_of(std::uint64_t episode) noexcept { return 1U << episode % 2; }

private:
    static constexpr std::uint64_t count_bits = 32;
    static constexpr std::uint64_t one(std::uint64_t episode) noexcept { return 1ULL << episode % 2 * count_bits; }
    static constexpr std::uint32_t count(std::uint64_t state, std::uint64_t episode) noexcept {
        return state >> episode % 2 * count_bits & ((1ULL << count_bits) - 1);
    }

    Word<Sync> state_{0};  ///< how many sleep in even episodes, and in odd ones
};

/// The same, kept apart from the words: it is hardly ever written, so looking at it costs the waker no cache miss.
template <class Sync>
class alignas(line_bytes) Sleepers : public SleeperCounts<Sync> {};

/// The waker's half, after a plain store to `word` that ends `episode`.
/// Memory order: the store comes before the look at the sleepers; pairs with park().
template <class Sync>
void wake_sleepers(const Word<Sync>& word, SleeperCounts<Sync>& sleepers, std::uint64_t episode,
                   Waking waking) noexcept {
    if (!waking.parks) return;
    if (waking.asymmetric)
        Sync::light_fence();
    else
        Sync::full_fence();
    if (const auto seen = sleepers.look(std::memory_order_relaxed); seen != 0)
        sleepers.wake(word, seen, episode, waking.scope);
}

/// The waker's half, after a sequentially consistent read-modify-write of `word`, which is a fence already.
/// Memory order: as wake_sleepers().
template <class Sync>
void wake_sleepers_after_add(const Word<Sync>& word, SleeperCounts<Sync>& sleepers, std::uint64_t episode,
                             Waking waking) noexcept {
    if (!waking.parks) return;
    if (const auto seen = sleepers.look(std::memory_order_seq_cst); seen != 0)
        sleepers.wake(word, seen, episode, waking.scope);
}

/// The sleeper's half: announces itself, looks once more and sleeps until `episode` ends. False when the deadline
/// passed first. A sleeper whose asymmetric fence the kernel refuses may be overlooked, and only naps. Memory order:
/// the announcement comes before the last look, pairs with wake_sleepers(). None otherwise: look again.
template <class Sync, class Deadline>
bool park(const Word<Sync>& word, std::uint64_t target, SleeperCounts<Sync>& sleepers, std::uint64_t episode,
          Waking waking, Deadline deadline) noexcept {
    sleepers.announce(episode);
    bool is_seen = true;
    if (waking.asymmetric)
        is_seen = Sync::heavy_fence(waking.scope);
    else
        Sync::full_fence();
    const std::uint32_t mask = SleeperCounts<Sync>::mask_of(episode);
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
    sleepers.withdraw(episode);
    return in_time;
}

/// The end of an episode of a barrier without ranks, for wait().
template <class Meeting>
struct AwaitedEnd {
    bool happened() const noexcept { return meeting.reached(target); }
    void progress() const noexcept {}

    template <class Deadline>
    bool sleep(Stopwatch&, Deadline deadline) const noexcept {
        return meeting.sleep(target, deadline);
    }

    const Meeting& meeting;
    std::uint64_t target;
};

/// A word that is to reach a number, for wait().
template <class Sync>
struct AwaitedWord {
    /// Memory order: acquire, pairs with the release (or stronger) of whoever made the word grow.
    bool happened() const noexcept { return word.load(std::memory_order_acquire) >= target; }
    void progress() const noexcept {}

    template <class Deadline>
    bool sleep(Stopwatch&, Deadline deadline) const noexcept {
        return park(word, target, sleepers, episode, waking, deadline);
    }

    const Word<Sync>& word;
    std::uint64_t target;
    Sleepers<Sync>& sleepers;
    std::uint64_t episode;  ///< the number of the one that ends then
    Waking waking;
};

}  // namespace tollbar::detail
#pragma GCC visibility pop
