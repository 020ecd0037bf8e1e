// SPDX-License-Identifier: Apache-2.0
// What a process learns while it waits: which of its CPUs it shares with strangers, and whether spinning pays
// (docs/design/waiting.md). Decides how to wait, never what to wait for, so nothing here orders anything.
#pragma once

#include <tollbar/detail/language.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tollbar {

/// What ways of waiting cost on this machine, in ticks of the clock that waits are measured with.
struct Pace {
    std::uint64_t wake;       ///< to sleep and be woken
    std::uint64_t fruitless;  ///< a yield that takes less has found nobody to give way to

    /// A yield that takes longer has given way to a stranger, or to a fellow who has much to compute.
    constexpr std::uint64_t late() const noexcept { return 10 * wake; }
};

/// A number that several threads read and write, each as if it were alone: a lost write costs a little time.
class Loose {
public:
    constexpr Loose(std::uint64_t value = 0) noexcept : value_(value) {}
    Loose(const Loose& other) noexcept : value_(other.get()) {}
    Loose& operator=(const Loose& other) noexcept { return set(other.get()), *this; }

    std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }
    void set(std::uint64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }

    /// True for one of those who try.
    bool replace(std::uint64_t old, std::uint64_t value) noexcept {
        return value_.compare_exchange_strong(old, value, std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint64_t> value_;
};

/// Whether a way of polling pays: it fails where a wait ends in sleep all the same. Then nobody tries it for a while,
/// which doubles as long as it keeps failing.
class Payoff {
public:
    /// For a look without a clock.
    bool has_paid() const noexcept { return until_.get() == 0; }

    bool pays(std::uint64_t now) const noexcept { return now >= until_.get(); }

    void paid() noexcept {
        if (failures_.get() != 0) failures_.set(0);
        if (until_.get() != 0) until_.set(0);
    }

    void failed(std::uint64_t now, const Pace& pace) noexcept {
        const std::uint64_t failures = failures_.get() + 1;
        failures_.set(failures);
        if (failures < believed || now < until_.get()) return;
        const std::uint64_t length = until_.get() == 0 ? pace.wake * least
                                                       : std::min(2 * length_.get(), pace.wake * most);
        length_.set(length);
        until_.set(now + length);
    }

private:
    static constexpr std::uint64_t believed = 4;  ///< failures in a row
    static constexpr std::uint64_t least = 50;    ///< wake-ups' time: 1 ms
    static constexpr std::uint64_t most = 1500;   ///< 30 ms

    Loose failures_;
    Loose until_;
    Loose length_;
};

/// Whether strangers run on a CPU. Threads of the process that wait there share what they find out.
///
/// Beside a stranger a yield costs a whole slice (3 ms), a sleep does not: who is woken preempts the stranger. Once
/// late yields have cost that much more than the others have saved, waiters there sleep at once; every now and then one
/// of them yields, to find out whether the stranger has gone. They sleep at once, too, where yields find nobody at all:
/// ranks of an MPI that starts each in a session of its own.
class alignas(128) Company {
public:
    enum class Advice : std::uint8_t {
        yield,  ///< there is no stranger
        probe,  ///< there was one, but the caller shall yield: see gone()
        sleep,  ///< there is one, or nobody to give way to
    };

    Advice advice(std::uint64_t now, const Pace& pace) noexcept {
        const std::uint64_t due = probe_at_.get();
        if (due == 0) return yields_.has_paid() || yields_.pays(now) ? Advice::yield : Advice::sleep;
        if (now < due) return Advice::sleep;
        const std::uint64_t apart = std::min(2 * apart_.get(), pace.wake * most_apart);
        if (!probe_at_.replace(due, next(now, apart))) return Advice::sleep;
        apart_.set(apart);
        return Advice::probe;
    }

    bool here() const noexcept { return probe_at_.get() != 0; }

    /// A wait ended by yields, or its yields found nobody to give way to for so long that it ended in sleep.
    void helped() noexcept { yields_.paid(); }
    void fruitless(std::uint64_t now, const Pace& pace) noexcept { yields_.failed(now, pace); }

    /// A yield came back late, after `took`. True when strangers are why.
    bool late(std::uint64_t now, std::uint64_t took, const Pace& pace) noexcept {
        if (here()) return true;
        lost_.set(lost_.get() + took);
        if (lost_.get() < pace.wake * enough) return false;
        const bool again = now - gone_at_.get() < pace.wake * most_apart;
        if (!again) apart_.set(pace.wake * least_apart);
        probe_at_.set(next(now, apart_.get()));
        return true;
    }

    /// A wait's yields all came back in time, which has saved a wake-up.
    void in_time(const Pace& pace) noexcept {
        if (const std::uint64_t lost = lost_.get(); lost != 0) lost_.set(lost - std::min(lost, pace.wake));
    }

    /// So did those of a probe. One more late yield shows if that was luck.
    void gone(std::uint64_t now, const Pace& pace) noexcept {
        lost_.set(pace.wake * enough);
        gone_at_.set(now);
        probe_at_.set(0);
    }

private:
    /// All CPUs are probed at the same time, so that all lose it at the same time.
    static std::uint64_t next(std::uint64_t now, std::uint64_t apart) noexcept { return (now / apart + 1) * apart; }

    static constexpr std::uint64_t enough = 300;       ///< wake-ups' time lost, before it is believed: 6 ms
    static constexpr std::uint64_t least_apart = 500;  ///< between probes, in wake-ups' time: 10 ms; doubles
    static constexpr std::uint64_t most_apart = 2000;  ///< 40 ms

    Loose probe_at_;  ///< 0: no strangers
    Loose apart_;
    Loose lost_;  ///< by late yields, less what yielding has saved
    Loose gone_at_;
    Payoff yields_;
};

/// Whether those who release others beside company should wake all, or a few who wake the others. Which is better
/// depends on the kernel and on what the others do; so both are tried, and the one with the shorter turns is kept.
/// Told by one thread a turn.
class Waves {
public:
    /// What to do in the turn that ends now.
    bool chain(std::uint64_t now, const Pace& pace) noexcept {
        const std::uint64_t turns = turns_.get() + 1;
        const std::uint64_t passed = now - begun_.get();
        const std::uint64_t way = way_.get();
        turns_.set(turns);
        if (passed < pace.wake * stretch || turns < least_turns) return way != 0;
        // A stretch that has lasted for much longer was interrupted by something else.
        if (passed < 8 * pace.wake * stretch) turn_[way].set(passed / turns);
        begun_.set(now);
        turns_.set(0);
        // The other way is tried the more rarely, the longer the same has been better.
        std::uint64_t next = turn_[0].get() <= turn_[1].get() ? 0 : 1;
        if (next != kept_.get()) until_other_.set(0), trials_.set(0);
        kept_.set(next);
        if (until_other_.get() == 0) {
            trials_.set(std::min<std::uint64_t>(trials_.get() + 1, 4));
            until_other_.set(rarer << trials_.get());
            next = 1 - next;
        } else {
            until_other_.set(until_other_.get() - 1);
        }
        way_.set(next);
        return next != 0;
    }

private:
    static constexpr std::uint64_t stretch = 250;    ///< wake-ups' time: 5 ms
    static constexpr std::uint64_t least_turns = 8;  ///< of a stretch
    static constexpr std::uint64_t rarer = 4;        ///< the other way is tried after 8 stretches, then 16, to 64

    Loose way_;
    Loose begun_;
    Loose turns_;
    Loose kept_;
    Loose until_other_;
    Loose trials_;
    Loose turn_[2];  ///< time a turn, waking all and waking a few; 0 is worth a try
};

}  // namespace tollbar
