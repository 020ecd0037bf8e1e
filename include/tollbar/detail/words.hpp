// SPDX-License-Identifier: Apache-2.0
// The transport of ranks that share memory: a signal is a store to a word. The hot loop of every ranked barrier between
// threads and processes of a node is here.
#pragma once

#include <tollbar/detail/runner.hpp>
#include <tollbar/detail/waiting.hpp>
#include <tollbar/plan.hpp>

#include <cstdint>

namespace tollbar {

/// What a step does to its word.
enum class WordKind : std::uint8_t {
    signal,  ///< write the episode; this thread is the word's only writer in this episode
    await,   ///< wait until the word has reached episode x share
    count,   ///< add one to the word; the addition that makes it episode x share wakes the sleepers
    meet,    ///< add one to the word; all but the last of the episode go on `skip` steps further
};

/// A step of a rank at its word. Whoever runs a step, by words alone or among others, goes through these functions.
template <class Sync>
struct WordStep {
    /// Whether the word has come as far as the episode wants.
    /// Memory order: acquire, pairs with the release of signal() and add().
    bool met(Episode episode) const noexcept { return word->load(std::memory_order_acquire) >= episode * share; }

    /// Tells whoever awaits the word, and wakes those who sleep. Memory order: release, pairs with met().
    void signal(Episode episode, Waking waking) const noexcept {
        word->store(episode, std::memory_order_release);
        wake_sleepers(*word, *sleepers, episode, waking);
    }

    /// True for the last of the episode. Memory order: release for the others, acquire of all who came before;
    /// sequentially consistent for wake_sleepers_after_add().
    bool add(Episode episode) const noexcept {
        return word->fetch_add(1, std::memory_order_seq_cst) + 1 == episode * share;
    }

    /// Does the step if nothing stands in its way: how many steps to go on, 0 when it has to wait.
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
    Sleepers<Sync>* sleepers;  ///< those who may sleep on the word
    std::uint32_t share;       ///< how much the word grows in an episode
    std::uint32_t skip;
    WordKind kind;
    bool between_processors;  ///< an await in which nobody on this processor could do better
};

template <class SyncPolicy>
class Words {
public:
    using Sync = SyncPolicy;
    using Step = WordStep<Sync>;
    using CrowdingWord = typename Sync::template Atomic<Crowding>;

    Words() = default;

    /// `crowding` may change at any time and is read before each wait.
    Words(wait_policy policy, Waking waking, const CrowdingWord& crowding) noexcept
        : policy_(policy), waking_(waking), crowding_(&crowding) {}

    void entered(Episode) const noexcept {}
    std::uint32_t take(const Step& step, Episode episode) const noexcept { return step.take(episode, waking_); }
    bool met(const Step& step, Episode episode) const noexcept { return step.met(episode); }
    void progress() const noexcept {}
    static constexpr bool gone() noexcept { return false; }

    Patience patience(const Step& step) noexcept {
        // While a representative waits for other processors, nobody on its own has anything to do.
        const Crowding crowding = step.between_processors ? Crowding::roomy
                                                          : crowding_->load(std::memory_order_relaxed);
        Patience patience = patience_for<Sync>(policy_, crowding);
        patience.spinning = &spinning_;
        return patience;
    }

    template <class Deadline>
    bool sleep(const Step& step, Episode episode, Stopwatch&, Deadline deadline) const noexcept {
        return step.sleep(episode, waking_, deadline);
    }

private:
    wait_policy policy_ = wait_policy::automatic;
    Waking waking_;
    const CrowdingWord* crowding_ = nullptr;
    Payoff spinning_;
};

}  // namespace tollbar
