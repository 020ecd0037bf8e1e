// SPDX-License-Identifier: Apache-2.0
// The transport of a rank that shares memory with some of its peers: each step goes by a word of that memory, by a
// message, or by a barrier that runs elsewhere.
#pragma once

#include "base/process.hpp"
#include "transports/mpi/messages.hpp"
#include "transports/words/segment.hpp"
#include "waiting/last_of_cpu.hpp"

#include <tollbar/detail/runner.hpp>
#include <tollbar/detail/words.hpp>

#include <atomic>
#include <cstdint>
#include <sched.h>
#include <span>

namespace tollbar::detail::mpi {

/// A barrier that runs elsewhere as two steps of a plan, arrive and await its end: the one on the nodes' NICs or, for
/// the threads of a rank, the one of the ranks. One thread at a time.
class OuterBarrier {
public:
    enum class State : std::uint8_t {
        over,
        under_way,
        gone,  ///< nothing runs it any more: no further episode ends
    };

    OuterBarrier() = default;
    virtual ~OuterBarrier() = default;
    OuterBarrier(const OuterBarrier&) = delete;
    OuterBarrier& operator=(const OuterBarrier&) = delete;

    /// Enters the next episode, after the end of the one before. Blocks only if the caller would wait anyway; then the
    /// episode is over on return. Memory order: release of everything this thread did or saw before; when over, as
    /// test().
    virtual State arrive() noexcept = 0;

    /// The state of the episode entered last. Never blocks. Memory order: acquire of what everybody did before they
    /// arrived, when over.
    virtual State test() noexcept = 0;

    /// As test(), and waits for it, until then or until a moment that suits it better.
    virtual State wait_until(Deadline deadline) noexcept = 0;
};

/// Dispatches each step to the words, the messages or the barrier elsewhere, and calls the MPI's progress while
/// anything is awaited.
class Composite {
public:
    using Sync = NativeSync;
    using ByWords = Words<NativeSync>;

    struct Step {
        enum class By : std::uint8_t { word, message, outer_arrival, outer_end };

        By by;
        WordStep<NativeSync> word{};
        MessageStep message{};

        /// The member of the plan that an await belongs to, and the position in its program.
        static constexpr std::uint32_t nowhere = UINT32_MAX;
        Rank member = 0;
        std::uint32_t position = nowhere;
    };

    struct Parts {
        ByWords words{};
        Messages* messages = nullptr;          ///< makes the MPI's progress; null: this thread may not call the MPI
        OuterBarrier* outer = nullptr;         ///< of the steps that go there
        std::atomic<bool>* gave_up = nullptr;  ///< signals the loss to the other ranks here, where there are any
        std::span<RankRecord> counted{};       ///< of all ranks, where they count at one word and do nothing else
    };

    Composite() = default;
    explicit Composite(const Parts& parts) noexcept : parts_(parts) {}

    void entered(Episode episode) noexcept {
        if (!parts_.counted.empty() && parts_.words.crowded()) {
            const auto cpu = static_cast<std::uint32_t>(sched_getcpu());
            last_of_cpu_.arrive(parts_.counted[cpu % parts_.counted.size()].arrivals, cpu, episode);
        }
        if (parts_.messages == nullptr) return;
        parts_.messages->entered(episode);
        heed_messages();
    }

    std::uint32_t take(const Step& step, Episode episode) noexcept {
        if (step.by == Step::By::word) return parts_.words.take(step.word, episode);
        return take_elsewhere(step, episode);
    }

    bool met(const Step& step, Episode episode) noexcept {
        if (step.by == Step::By::word) return parts_.words.met(step.word, episode);
        if (step.by != Step::By::message) return outer_is_over();
        const bool met = parts_.messages->met(step.message, episode);
        heed_messages();
        return met;
    }

    void progress() noexcept {
        if (parts_.messages == nullptr) return;
        parts_.messages->progress();
        heed_messages();
    }

    /// For callers that poll: checks for failures that no awaited step would report.
    void look() noexcept {
        if (parts_.messages == nullptr) return;
        parts_.messages->look();
        heed_messages();
    }

    /// The last rank of a CPU has no other to give way to: it spins (docs/design/waiting.md).
    WaitBudget budget(const Step& step) noexcept {
        if (step.by != Step::By::word) return {.spins = 0, .yields = 0};
        WaitBudget budget = parts_.words.budget(step.word);
        const bool spins = !parts_.counted.empty() && last_of_cpu_ && !Sync::neighbours().here();
        if (spins) budget.spins = Sync::spins_worth_a_wake();
        return budget;
    }

    /// A sleeper at a word or at the outer barrier is woken at once; the nap only bounds the time without progress of
    /// the MPI.
    template <class Deadline>
    bool sleep(const Step& step, Episode episode, Stopwatch& asleep, Deadline deadline) noexcept {
        if (step.by == Step::By::message) return parts_.messages->sleep(step.message, episode, asleep, deadline);
        if (parts_.messages == nullptr) return sleep_until(step, episode, asleep, deadline);
        sleep_until(step, episode, asleep, sooner(deadline, nap_after(asleep.elapsed())));
        return !deadline.passed();
    }

    /// Whether the outer barrier is gone, or a message lost, of this rank or another one here. Memory order: acquire.
    /// Episodes which that rank completed before it noticed the failure are complete for all ranks here.
    bool gone() const noexcept {
        return gone_ || (parts_.gave_up != nullptr && parts_.gave_up->load(std::memory_order_acquire));
    }

    /// From the next wait on.
    void set_words(const ByWords& words, std::span<RankRecord> counted) noexcept {
        parts_.words = words;
        parts_.counted = counted.size() <= LastOfCpu::most ? counted : std::span<RankRecord>();
        if (!counted.empty()) last_of_cpu_ = LastOfCpu(scheduler_group());
    }

private:
    template <class Deadline>
    bool sleep_until(const Step& step, Episode episode, Stopwatch& asleep, Deadline deadline) noexcept {
        if (step.by == Step::By::word) return parts_.words.sleep(step.word, episode, asleep, deadline);
        return note(parts_.outer->wait_until(deadline)) || !deadline.passed();
    }

    /// An arrival that finds the end takes the step after it too, which awaits that.
    std::uint32_t take_elsewhere(const Step& step, Episode episode) noexcept {
        if (step.by == Step::By::message) {
            const std::uint32_t taken = parts_.messages->take(step.message, episode);
            heed_messages();
            return taken;
        }
        if (step.by == Step::By::outer_end) return outer_is_over() ? 1 : 0;
        if (gone_) return 0;
        return note(parts_.outer->arrive()) ? 2 : gone_ ? 0 : 1;
    }

    bool outer_is_over() noexcept { return !gone_ && note(parts_.outer->test()); }

    bool note(OuterBarrier::State state) noexcept {
        if (state == OuterBarrier::State::gone) give_up();
        return state == OuterBarrier::State::over;
    }

    void heed_messages() noexcept {
        if (parts_.messages->gone()) give_up();
    }

    /// Memory order: release, pairs with gone() of the others here.
    void give_up() noexcept {
        gone_ = true;
        if (parts_.gave_up != nullptr) parts_.gave_up->store(true, std::memory_order_release);
    }

    Parts parts_;
    LastOfCpu last_of_cpu_;
    bool gone_ = false;  ///< found by this rank
};

}  // namespace tollbar::detail::mpi
