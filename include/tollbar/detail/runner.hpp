// SPDX-License-Identifier: Apache-2.0
// The one runner: the state of one rank that runs its part of a plan, by whatever transport.
#pragma once

#include <tollbar/detail/waiting.hpp>
#include <tollbar/plan.hpp>

#include <concepts>
#include <cstdint>
#include <utility>

#pragma GCC visibility push(default)
namespace tollbar::detail {

/// A carrier of signals. Steps are the transport's own: the operations of a schedule, with words, channels or slots.
template <class T>
concept Transport = requires(T transport, const typename T::Step& step, Episode episode, Stopwatch& asleep) {
    typename T::Sync;
    /// An episode begins.
    transport.entered(episode);
    /// Takes a step unless it has to wait. Returns how many steps to go on, 0 when it has to wait.
    { transport.take(step, episode) } -> std::same_as<std::uint32_t>;
    /// Whether a step that had to wait may be taken now. A cheap look.
    { transport.met(step, episode) } -> std::same_as<bool>;
    /// Keeps going what has to be kept going while the rank waits.
    transport.progress();
    /// Says how long to wait in which way before sleep().
    { transport.budget(step) } -> std::same_as<BasicWaitBudget<typename T::Sync::Backoff>>;
    /// Sleeps until the step may have been met, or as long as progress() may wait; false when the deadline passed.
    { transport.sleep(step, episode, asleep, Never{}) } -> std::same_as<bool>;
    /// Whether no further step will ever be met.
    { transport.gone() } -> std::same_as<bool>;
};

/// One rank's running state: how far it has come in its steps, and in which episode.
///
///     runner.start();
///     while (!runner.advance()) compute_something();   // or runner.finish(Never{})
template <Transport T>
class Runner {
public:
    using Step = typename T::Step;

    Runner() = default;

    /// `steps` outlives the runner. Nobody has entered an episode after `before`.
    Runner(const Step* steps, std::uint32_t count, Episode before, T transport) noexcept
        : begin_(steps), end_(steps + count), next_(end_), episode_(before), transport_(std::move(transport)) {}

    Episode episode() const noexcept { return episode_; }
    bool finished() const noexcept { return next_ == end_; }
    std::uint32_t steps_done() const noexcept { return static_cast<std::uint32_t>(next_ - begin_); }

    T& transport() noexcept { return transport_; }
    const T& transport() const noexcept { return transport_; }

    /// Enters the next episode. Only when finished().
    void start() noexcept {
        ++episode_;
        next_ = begin_;
        transport_.entered(episode_);
    }

    /// Goes on as far as the awaits allow; true when the episode is over. Never blocks.
    /// Memory order: what any rank wrote before it started this episode is visible once this returns true.
    bool advance() noexcept {
        while (next_ != end_) {
            const std::uint32_t taken = transport_.take(*next_, episode_);
            if (taken == 0) return false;
            next_ += taken;
        }
        return true;
    }

    /// Waits for the rest of the episode; false when the deadline passed first, and may then be called again, or when
    /// the transport is gone. Memory order: as advance().
    template <class Deadline>
    bool finish(Deadline deadline) noexcept {
        while (!advance()) {
            const bool in_time = wait<typename T::Sync>(Awaited{*this}, transport_.budget(*next_), deadline);
            if (!in_time || transport_.gone()) return advance();
        }
        return true;
    }

private:
    /// The next step, for wait().
    struct Awaited {
        bool happened() const noexcept {
            return runner.transport_.met(*runner.next_, runner.episode_) || runner.transport_.gone();
        }
        void progress() const noexcept { runner.transport_.progress(); }

        template <class Deadline>
        bool sleep(Stopwatch& asleep, Deadline deadline) const noexcept {
            return runner.transport_.sleep(*runner.next_, runner.episode_, asleep, deadline);
        }

        Runner& runner;
    };

    const Step* begin_ = nullptr;
    const Step* end_ = nullptr;
    const Step* next_ = nullptr;
    Episode episode_ = 0;
    T transport_;
};

}  // namespace tollbar::detail
#pragma GCC visibility pop
