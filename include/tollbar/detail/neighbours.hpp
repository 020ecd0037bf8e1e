// SPDX-License-Identifier: Apache-2.0
// Knowledge that a process gathers while it waits: which of its CPUs it shares with neighbours, and which way of
// polling pays (docs/design/waiting.md). Decides how to wait, never what to wait for, so nothing here orders anything.
#pragma once

#include <tollbar/detail/language.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)
namespace tollbar::detail {

/// The price of sleeping and being woken by another CPU.
inline constexpr std::uint64_t wake_us = 20;

/// A yield that takes longer has given way to a neighbour, or to a thread of ours that has much to compute.
inline constexpr std::uint64_t late_us = 200;

/// How the clock that waits are measured with counts on this machine.
struct Pace {
    std::uint64_t ticks_per_us;
    std::uint64_t fruitless;  ///< ticks: a yield that takes less has found no thread to give way to

    constexpr std::uint64_t ticks(std::uint64_t us) const noexcept { return us * ticks_per_us; }
};

/// A number that several threads read and write, each as if it were alone: a lost write costs a little time.
template <class Word>
class BasicLoose {
public:
    constexpr BasicLoose(std::uint64_t value = 0) noexcept : value_(value) {}
    BasicLoose(const BasicLoose& other) noexcept : value_(other.get()) {}
    BasicLoose& operator=(const BasicLoose& other) noexcept { return set(other.get()), *this; }

    std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }
    void set(std::uint64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }

    /// True for one of the threads that try.
    bool replace(std::uint64_t old, std::uint64_t value) noexcept {
        return value_.compare_exchange_strong(old, value, std::memory_order_relaxed);
    }

private:
    Word value_;
};

using Loose = BasicLoose<std::atomic<std::uint64_t>>;

/// When a way of polling is given up, and for how long.
struct BackoffRule {
    std::uint64_t enough;    ///< losses
    std::uint64_t least_us;  ///< the first pause; doubles
    std::uint64_t most_us;
    bool together = false;  ///< pauses of one length end at the same time everywhere
};

/// An exponential back-off. A way of polling fails where a wait ends in sleep all the same, or late; once its failures
/// have lost enough, no thread tries it for a while, which doubles as long as trials fail.
template <class Word, BackoffRule rule>
class BasicBackoff {
public:
    /// Whether no failure counts. Reads no clock.
    bool has_paid() const noexcept { return lost_.get() == 0; }

    bool given_up() const noexcept { return lost_.get() >= rule.enough; }
    bool pays(std::uint64_t now) const noexcept { return !given_up() || now >= until_.get(); }

    void paid() noexcept {
        if (lost_.get() != 0) lost_.set(0);
        if (until_.get() != 0) until_.set(0);
    }

    void failed(std::uint64_t now, const Pace& pace, std::uint64_t loss = 1) noexcept {
        const bool again = given_up();
        lost_.set(lost_.get() + loss);
        if (!given_up() || (again && now < until_.get())) return;
        const bool relapse = now - until_.get() < pace.ticks(rule.most_us);
        const std::uint64_t first = std::max(relapse ? length_.get() : 0, pace.ticks(rule.least_us));
        pause(now, again ? longer(pace) : first);
    }

    /// A success has made up for so much of the losses.
    void saved(std::uint64_t gain) noexcept {
        if (const std::uint64_t lost = lost_.get(); lost != 0 && lost < rule.enough)
            lost_.set(lost - std::min(lost, gain));
    }

    /// After a pause, true for one caller, which tries; the other callers go on without.
    bool probes(std::uint64_t now, const Pace& pace) noexcept {
        const std::uint64_t due = until_.get();
        const std::uint64_t length = longer(pace);
        if (now < due || !until_.replace(due, end_of(now, length))) return false;
        length_.set(length);
        return true;
    }

    /// A probe has paid: all threads try again, but the next failure is enough, and its pause is as long as before.
    void paid_once(std::uint64_t now) noexcept {
        lost_.set(rule.enough - 1);
        until_.set(now);
    }

private:
    std::uint64_t longer(const Pace& pace) const noexcept {
        return std::clamp(2 * length_.get(), pace.ticks(rule.least_us), pace.ticks(rule.most_us));
    }

    static constexpr std::uint64_t end_of(std::uint64_t now, std::uint64_t length) noexcept {
        return rule.together ? (now / length + 1) * length : now + length;
    }

    void pause(std::uint64_t now, std::uint64_t length) noexcept {
        length_.set(length);
        until_.set(end_of(now, length));
    }

    BasicLoose<Word> lost_;
    BasicLoose<Word> until_;  ///< the end of the pause, or the time of a probe that paid
    BasicLoose<Word> length_;
};

/// Four waits in a row that polled in vain.
inline constexpr BackoffRule polls_in_vain{.enough = 4, .least_us = 1'000, .most_us = 30'000};
using Backoff = BasicBackoff<std::atomic<std::uint64_t>, polls_in_vain>;

/// Whether neighbours run on a CPU. Threads of the process that wait there share what they find out.
///
/// Beside a neighbour a yield costs a whole slice (3 ms), a sleep does not: a thread that is woken preempts the
/// neighbour. Once late yields have cost 6 ms more than the others have saved, waiters there sleep at once; every now
/// and then one of them yields, to find out whether the neighbour has gone. They sleep at once, too, where yields find
/// no thread at all: ranks of an MPI that starts each in a session of its own.
class alignas(128) Neighbours {
public:
    enum class Advice : std::uint8_t {
        yield,  ///< there is no neighbour
        probe,  ///< there was one, but the caller shall yield: see gone()
        sleep,  ///< there is one, or no thread to give way to
    };

    Advice advice(std::uint64_t now, const Pace& pace) noexcept {
        if (!here()) return yields_.pays(now) ? Advice::yield : Advice::sleep;
        return slices_.probes(now, pace) ? Advice::probe : Advice::sleep;
    }

    bool here() const noexcept { return slices_.given_up(); }

    /// A wait ended by yields, or its yields found no thread to give way to for so long that it ended in sleep.
    void helped() noexcept { yields_.paid(); }
    void fruitless(std::uint64_t now, const Pace& pace) noexcept { yields_.failed(now, pace); }

    /// A yield came back late, after `took`. True when neighbours are why.
    bool late(std::uint64_t now, std::uint64_t took, const Pace& pace) noexcept {
        if (!here()) slices_.failed(now, pace, std::min(took / pace.ticks_per_us, most_of_one_us));
        return here();
    }

    /// A wait's yields all came back in time, which has saved a wake-up.
    void in_time() noexcept { slices_.saved(wake_us); }

    /// A probe's yields all came back in time. One more late yield shows if that was luck.
    void gone(std::uint64_t now) noexcept { slices_.paid_once(now); }

private:
    /// Slices lost to neighbours, in us. All CPUs probe at the same time, so that all lose that slice at the same time.
    /// The most that one late yield loses: a neighbour's slice is over by then, and a longer one is of a quota that is
    /// used up, or of a machine that stood still.
    static constexpr std::uint64_t most_of_one_us = 4'000;

    static constexpr BackoffRule slices{.enough = 6'000, .least_us = 10'000, .most_us = 40'000, .together = true};

    BasicBackoff<std::atomic<std::uint64_t>, slices> slices_;
    Backoff yields_;
};

}  // namespace tollbar::detail
#pragma GCC visibility pop
