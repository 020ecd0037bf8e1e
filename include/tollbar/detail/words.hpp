// SPDX-License-Identifier: Apache-2.0
// The transport of ranks that share memory: a signal is a store to a word. The hot loop of every ranked barrier between
// threads and processes of a node is here.
#pragma once

#include <tollbar/detail/runner.hpp>
#include <tollbar/detail/waiting.hpp>
#include <tollbar/plan.hpp>

#include <cstdint>

#pragma GCC visibility push(default)
namespace tollbar::detail {

/// The effect of a step on its word.
enum class WordKind : std::uint8_t {
    signal,  ///< write the episode; this thread is the word's only writer in this episode
    await,   ///< wait until the word has reached episode x share
    count,   ///< add one to the word; the addition that makes it episode x share wakes the sleepers
    meet,    ///< add one to the word; all but the last of the episode go on `skip` steps further
};

/// A step of a rank at its word. Every transport that has words, alone or among other steps, calls these functions.
template <class Sync>
struct WordStep {
    /// Whether the word has come as far as the episode wants.
    /// Memory order: acquire, pairs with the release of signal() and add().
    bool met(Episode episode) const noexcept { return word->load(std::memory_order_acquire) >= episode * share; }

    /// Signals the ranks that await the word, and wakes those that sleep. Memory order: release, pairs with met().
    void signal(Episode episode, Waking waking) const noexcept {
        word->store(episode, std::memory_order_release);
        wake_sleepers(*word, *sleepers, episode, waking);
    }

    /// Adds one; true for the last arrival of the episode. Memory order: release for the others, acquire of all
    /// arrivals before; sequentially consistent for wake_sleepers_after_add().
    bool add(Episode episode) const noexcept {
        return word->fetch_add(1, std::memory_order_seq_cst) + 1 == episode * share;
    }

    /// Takes the step unless it has to wait. Returns how many steps to go on, 0 when it has to wait.
    std::uint32_t take(Episode episode, Waking waking) const noexcept {
        switch (kind) {
            case WordKind::await: return met(episode) ? 1 : 0;
            case WordKind::signal: signal(episode, waking); return 1;
            case WordKind::count:
                if (add(episode)) wake_sleepers_after_add(*word, *sleepers, episode, waking);
                return 1;
            case WordKind::meet: return add(episode) ? 1 : 1 + skip;
        }
        return 0;
    }

    /// Sleeps until the word has come that far; false when the deadline passed first.
    template <class Deadline>
    bool sleep(Episode episode, Waking waking, Deadline deadline) const noexcept {
        return park(*word, episode * share, *sleepers, episode, waking, deadline);
    }

    Word<Sync>* word;
    Sleepers<Sync>* sleepers;  ///< the ranks that may sleep on the word
    std::uint32_t share;       ///< how much the word grows in an episode
    std::uint32_t skip;
    WordKind kind;
    bool between_processors;  ///< an await during which no other rank of this processor could go on
};

template <class SyncPolicy>
class Words {
public:
    using Sync = SyncPolicy;
    using Step = WordStep<Sync>;
    using OccupancyWord = typename Sync::template Atomic<Occupancy>;

    Words() = default;

    /// `occupancy` may change at any time and is read before each wait.
    Words(wait_policy policy, Waking waking, const OccupancyWord& occupancy) noexcept
        : policy_(policy), waking_(waking), occupancy_(&occupancy) {}

    /// Whether the ranks are more than their CPUs, and it is left to them how they wait.
    bool crowded() const noexcept {
        return policy_ == wait_policy::automatic &&
               occupancy_->load(std::memory_order_relaxed) == Occupancy::oversubscribed;
    }

    void entered(Episode) const noexcept {}
    std::uint32_t take(const Step& step, Episode episode) const noexcept { return step.take(episode, waking_); }
    bool met(const Step& step, Episode episode) const noexcept { return step.met(episode); }
    void progress() const noexcept {}
    static constexpr bool gone() noexcept { return false; }

    BasicWaitBudget<typename Sync::Backoff> budget(const Step& step) noexcept {
        // While the player of a processor's role waits for other processors, no rank of its own has anything to do.
        const Occupancy occupancy = step.between_processors ? Occupancy::exclusive
                                                            : occupancy_->load(std::memory_order_relaxed);
        auto budget = wait_budget_for<Sync>(policy_, occupancy);
        budget.spinning = &spinning_;
        return budget;
    }

    template <class Deadline>
    bool sleep(const Step& step, Episode episode, Stopwatch&, Deadline deadline) const noexcept {
        return step.sleep(episode, waking_, deadline);
    }

private:
    wait_policy policy_ = wait_policy::automatic;
    Waking waking_;
    const OccupancyWord* occupancy_ = nullptr;
    typename Sync::Backoff spinning_;
};

}  // namespace tollbar::detail
#pragma GCC visibility pop
