// SPDX-License-Identifier: Apache-2.0
// Programs wired to words of shared memory, and the state of one rank that runs one. The hot loop of every
// ranked barrier between threads is here.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/waiting.hpp>

#include <cstdint>

namespace tollbar {

/// What a step does to its word. `signal` and `await` are the plan's; the other two serve the barriers whose
/// roles depend on the order of arrival, which no plan can say.
enum class Deed : std::uint8_t {
    signal,  ///< write the episode; this thread is the word's only writer in this episode
    await,   ///< wait until the word has reached episode x share
    add,     ///< add one to the word; the add that makes it episode x share wakes the sleepers
    meet,    ///< add one to the word; all but the last of the episode go on `skip` steps further
};

/// Whoever runs a program, whatever else is in it, goes through these functions.
template <class Sync>
struct WiredStep {
    /// Whether the word has come as far as the episode wants.
    /// Memory order: acquire, pairs with the release of signal() and add().
    bool met(Episode episode) const noexcept { return word->load(std::memory_order_acquire) >= episode * share; }

    /// Tells whoever awaits the word, and wakes those who sleep. Memory order: release, pairs with met(), await().
    void signal(Episode episode, Ringing ringing) const noexcept {
        word->store(episode, std::memory_order_release);
        ring(*word, *bell, ringing);
    }

    /// True for the last of the episode. Memory order: release for the others, acquire of all who came before;
    /// sequentially consistent for ring_after_add().
    bool add(Episode episode) const noexcept {
        return word->fetch_add(1, std::memory_order_seq_cst) + 1 == episode * share;
    }

    /// As add(); the last one wakes those who sleep.
    void add_and_wake(Episode episode, Ringing ringing) const noexcept {
        if (add(episode)) ring_after_add(*word, *bell, ringing);
    }

    Word<Sync>* word;
    Bell<Sync>* bell;     ///< of those who may sleep on the word
    std::uint32_t share;  ///< how much the word grows in an episode
    std::uint32_t skip;
    Deed deed;
    bool between_processors;  ///< an await in which nobody on this processor could do better
};

/// One rank's running state: how far it has come in its program, and in which episode.
///
///     runner.start();
///     while (!runner.advance()) compute_something();   // or runner.finish(Never{})
template <class Sync>
class Runner {
public:
    using Step = WiredStep<Sync>;
    using CrowdingWord = typename Sync::template Atomic<Crowding>;

    Runner() = default;

    /// `steps` outlives the runner. `crowding` may change at any time and is read before each wait.
    Runner(const Step* steps, std::uint32_t count, Episode episode, wait_policy policy, Ringing ringing,
           const CrowdingWord& crowding) noexcept
        : begin_(steps), end_(steps + count), next_(end_), episode_(episode), policy_(policy), ringing_(ringing),
          crowding_(&crowding) {}

    Episode episode() const noexcept { return episode_; }
    bool finished() const noexcept { return next_ == end_; }

    /// Enters the next episode.
    void start() noexcept {
        ++episode_;
        next_ = begin_;
    }

    /// Goes on as far as the awaits allow; true when the episode is over. Never blocks.
    /// Memory order: what any rank wrote before it started this episode is visible once this returns true.
    bool advance() noexcept {
        while (next_ != end_) {
            if (next_->deed == Deed::await && !next_->met(episode_)) return false;
            take(*next_);
        }
        return true;
    }

    /// Waits for the rest of the episode; false when the deadline passed first, and may then be called again.
    /// Memory order: as advance().
    template <class Deadline>
    bool finish(Deadline deadline) noexcept {
        while (next_ != end_) {
            if (next_->deed == Deed::await && !next_->met(episode_) && !wait_for(*next_, deadline)) return false;
            take(*next_);
        }
        return true;
    }

private:
    template <class Deadline>
    bool wait_for(const Step& step, Deadline deadline) noexcept {
        return await(*step.word, episode_ * step.share, *step.bell, patience(step), ringing_, deadline);
    }

    Patience patience(const Step& step) const noexcept {
        // A sleeping representative would leave its processor idle, and waking it from another one costs more than
        // the others are late.
        if (step.between_processors && policy_ == wait_policy::park)
            return patience_for<Sync>(wait_policy::automatic, Crowding::roomy);
        const Crowding crowding = step.between_processors ? Crowding::roomy
                                                          : crowding_->load(std::memory_order_relaxed);
        return patience_for<Sync>(policy_, crowding);
    }

    /// Does a step that nothing stands in the way of, and goes to the next.
    void take(const Step& step) noexcept {
        ++next_;
        switch (step.deed) {
            case Deed::await: break;
            case Deed::signal: step.signal(episode_, ringing_); break;
            case Deed::add: step.add_and_wake(episode_, ringing_); break;
            case Deed::meet:
                if (!step.add(episode_)) next_ += step.skip;
                break;
        }
    }

    const Step* begin_ = nullptr;
    const Step* end_ = nullptr;
    const Step* next_ = nullptr;
    Episode episode_ = 0;
    wait_policy policy_ = wait_policy::automatic;
    Ringing ringing_;
    const CrowdingWord* crowding_ = nullptr;
};

}  // namespace tollbar
