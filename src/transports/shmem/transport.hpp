// SPDX-License-Identifier: Apache-2.0
// Takes the steps of one PE over symmetric memory.
#pragma once

#include "block.hpp"
#include "placement.hpp"

#include "waiting/last_of_cpu.hpp"

#include <tollbar/detail/waiting.hpp>

#include <array>
#include <atomic>
#include <optional>
#include <sched.h>
#include <shmem.h>
#include <span>

namespace tollbar::detail::shmem {

/// The way in which a PE signals another one.
enum class Signals : std::uint8_t {
    puts = 1,   ///< 64-bit puts into slots that are never reset (slots.hpp)
    stores = 2  ///< stores into the slots of PEs whose memory shmem_ptr gives, puts to the others
};

/// Takes a PE's steps, for Runner. One thread at a time.
///
/// Memory order: what any PE completed before it started this episode is visible after the last step.
class ShmemTransport {
public:
    /// A placed step with the addresses that it needs, which are worked out once.
    struct Step : shmem::Step {
        int pe = 0;
        bool stores = false;                           ///< the words lie in memory that this PE can store into
        std::array<std::uint64_t*, parities> words{};  ///< of the slot, or the counter
        std::uint64_t* asleep = nullptr;               ///< how many sleep there
    };
    using Sync = NativeSync;

    /// `pes` are the ranks' PEs. `block` lies at the same offset on all of them. With `shared` all of them know that
    /// shmem_ptr gives each the memory of every other: then those who store also count by additions to that memory, and
    /// wake each other, and all of them poll the counter. `before` is the episode before the first.
    ShmemTransport(Block block, std::span<const int> pes, Signals signals, bool shared, Signature signature,
                   WaitBudget budget, Episode before);

    /// The steps lie one after the other from now on.
    std::vector<Step> locate(const std::vector<shmem::Step>& placed) const;

    void entered(Episode episode) noexcept {
        block_.enter(episode);
        episode_ = episode;
        parity_ = parity_of(episode);
        word_ = slot_word(signature_, episode);
        if (arrivals_.empty()) return;
        const auto cpu = static_cast<std::uint32_t>(sched_getcpu());
        last_of_cpu_.arrive(*arrivals_[cpu % arrivals_.size()], cpu, episode);
    }

    std::uint32_t take(const Step& step, Episode) noexcept {
        switch (step.kind) {
            case Step::Kind::await:
            case Step::Kind::leave: return signalled(step) ? 1 : 0;
            case Step::Kind::signal: signal(step); return 1;
            case Step::Kind::meet: return meet(step);
            case Step::Kind::flush: shmem_quiet(); return 1 + step.skip;
            case Step::Kind::wake: wake(step); return 1 + step.skip;
        }
        return 1;
    }

    bool met(const Step& step, Episode) const noexcept {
        if (signalled(step)) return true;
        if (!near_) progress();
        return false;
    }

    void progress() const noexcept;
    WaitBudget budget(const Step&) noexcept {
        WaitBudget budget = budget_;
        if (last_of_cpu_ && !Sync::neighbours().here()) budget.spins = Sync::spins_worth_a_wake();
        budget.spinning = &spinning_;
        return budget;
    }

    /// Until it is woken, where those who signal it store into its memory; else it polls for a while, and then naps.
    /// The OpenSHMEM gets its turns even so.
    template <class Deadline>
    bool sleep(const Step& step, Episode, Stopwatch& asleep, Deadline deadline) noexcept {
        if (!shared_) return nap<Sync>(budget_, asleep, deadline);
        park(step, sooner(deadline, nap_after(asleep.elapsed())));
        return !deadline.passed();
    }
    static constexpr bool gone() noexcept { return false; }

    /// Whether the memory of all peers can be read and written by loads and stores. Else what they sent comes only
    /// while this PE makes progress.
    bool near() const noexcept { return near_; }

    /// Whether what that step awaits, a slot or a counter, was signalled in this episode.
    bool signalled(const Step& step) const noexcept {
        if (step.kind == Step::Kind::leave)  // pairs with the additions of all others
            return is_full(step, std::atomic_ref(*step.words[0]).load(std::memory_order_acquire));
        if (shmem_uint64_test(step.words[parity_], SHMEM_CMP_EQ, word_) == 0) return false;
        // Pairs with the other PE's quiet before it signalled, or with the release of its store.
        std::atomic_thread_fence(std::memory_order_acquire);
        return true;
    }

    /// An impossible value of this PE's slots or counter; nothing when all is well.
    struct Fault {
        static constexpr std::uint32_t no_slot = ~std::uint32_t{0};  ///< the counter

        Reading reading;
        std::uint64_t word;
        std::uint32_t slot;
    };
    std::optional<Fault> fault() const noexcept;

private:
    void signal(const Step& step) noexcept {
        if (step.stores) {
            // Pairs with the acquire in signalled().
            std::atomic_ref(*step.words[parity_]).store(word_, std::memory_order_release);
        } else {
            shmem_uint64_p(step.words[parity_], word_, step.pe);
        }
    }
    std::uint64_t full(const Step& step) const noexcept { return (episode_ - before_) * step.share; }
    /// Whether the counter is full. Not where it shows more than can be before this PE counts again: see fault().
    bool is_full(const Step& step, std::uint64_t count) const noexcept { return count - full(step) < step.share; }
    Step located(const shmem::Step& placed) const;
    std::uint32_t meet(const Step& step) noexcept;
    void park(const Step& step, Deadline deadline) noexcept;
    void wake(const Step& step) noexcept;

    Block block_;
    std::vector<int> pes_;
    bool stores_;
    bool shared_;  ///< and every PE's memory lies here
    Signature signature_;
    WaitBudget budget_;
    Backoff spinning_;
    LastOfCpu last_of_cpu_;
    std::vector<std::uint64_t*> arrivals_;  ///< at each PE, where PEs share memory and CPUs
    Episode before_;
    bool near_;
    Episode episode_ = 0;
    unsigned parity_ = 0;
    std::uint64_t word_ = 0;
    std::uint64_t overcount_ = 0;  ///< what the counter showed when somebody else had counted too
};

}  // namespace tollbar::detail::shmem
