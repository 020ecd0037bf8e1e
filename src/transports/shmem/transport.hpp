// SPDX-License-Identifier: Apache-2.0
// Takes the steps of one PE over symmetric memory.
#pragma once

#include "placement.hpp"
#include "signals.hpp"

#include <tollbar/detail/waiting.hpp>

#include <array>
#include <atomic>
#include <optional>
#include <shmem.h>
#include <span>

namespace tollbar::shmem {

/// What a PE does in a barrier, for Runner. One thread at a time.
///
/// Memory order: what any PE completed before it started this episode is visible after the last step.
class ShmemTransport {
public:
    /// A placed step with the addresses that it needs, which are worked out once.
    struct Step : shmem::Step {
        int pe = 0;
        bool stores = false;                         ///< the words lie in memory that this PE can store into
        std::array<std::uint64_t*, phases> words{};  ///< of the slot, or the counter
        std::uint64_t* asleep = nullptr;             ///< of the PE that is told
    };
    using Sync = NativeSync;

    /// `pes` are the ranks' PEs. `block` lies at the same place on all of them. With `shared` all of them know that
    /// shmem_ptr gives each the memory of every other: then those who store also count by additions to that memory, and
    /// wake each other. `before` is the episode before the first.
    ShmemTransport(Block block, std::span<const int> pes, const SignalKind& signals, bool shared, Signature signature,
                   Patience patience, Episode before);

    /// The steps lie one after the other from now on.
    std::vector<Step> locate(const std::vector<shmem::Step>& placed) const;

    void entered(Episode episode) noexcept {
        block_.enter(episode);
        episode_ = episode;
        phase_ = phase_of(episode);
        word_ = slot_word(signature_, episode);
    }

    std::uint32_t take(const Step& step, Episode) noexcept {
        switch (step.kind) {
            case Step::Kind::told: return told(step) ? 1 : 0;
            case Step::Kind::tell: tell(step); return 1;
            case Step::Kind::meet: return meet(step);
            case Step::Kind::flush: shmem_quiet(); return 1 + step.skip;
            case Step::Kind::clean_up: signaller_->clean_up(); return 1;
            case Step::Kind::wake: wake(step); return 1 + step.skip;
        }
        return 1;
    }

    bool met(const Step& step, Episode) const noexcept {
        if (told(step)) return true;
        if (!near_) progress();
        return false;
    }

    void progress() const noexcept;
    Patience patience(const Step&) noexcept {
        Patience patience = patience_;
        patience.spinning = &spinning_;
        return patience;
    }

    /// Until it is woken, where those who tell it store into its memory; else it polls for a while, and then naps. The
    /// OpenSHMEM gets its turns even so.
    template <class Deadline>
    bool sleep(const Step& step, Episode, Stopwatch& asleep, Deadline deadline) noexcept {
        if (!shared_) return nap<Sync>(patience_, asleep, deadline);
        park(step, sooner(deadline, nap_after(asleep.elapsed())));
        return !deadline.passed();
    }
    static constexpr bool gone() noexcept { return false; }

    /// Whether the memory of all peers can be read and written by loads and stores. Else what they sent comes only
    /// while this PE makes progress.
    bool near() const noexcept { return near_; }

    /// Whether the slot of that step, of kind `told`, was told in this episode.
    bool told(const Step& step) const noexcept {
        if (signaller_ != nullptr) return signaller_->told(step.slot);
        if (shmem_uint64_test(step.words[phase_], SHMEM_CMP_EQ, word_) == 0) return false;
        // Pairs with the other PE's quiet before it told, or with the release of its store.
        std::atomic_thread_fence(std::memory_order_acquire);
        return true;
    }

    /// What the slots or the counter of this PE say that they cannot; nothing when all is well, or where that cannot
    /// be seen.
    struct Fault {
        static constexpr std::uint32_t no_slot = ~std::uint32_t{0};  ///< the counter

        Reading reading;
        std::uint64_t word;
        std::uint32_t slot;
    };
    std::optional<Fault> fault() const noexcept;

private:
    void tell(const Step& step) noexcept {
        if (signaller_ != nullptr) {
            signaller_->tell(step.pe, step.slot);
        } else if (step.stores) {
            // Pairs with the acquire in told().
            std::atomic_ref(*step.words[phase_]).store(word_, std::memory_order_release);
        } else {
            shmem_uint64_p(step.words[phase_], word_, step.pe);
        }
    }
    Step located(const shmem::Step& placed) const;
    std::uint32_t meet(const Step& step) noexcept;
    void park(const Step& step, Deadline deadline) noexcept;
    void wake(const Step& step) noexcept;

    Block block_;
    std::vector<int> pes_;
    bool stores_;
    bool shared_;                           ///< and everybody's memory lies here
    std::unique_ptr<Signaller> signaller_;  ///< null: by slots
    Signature signature_;
    Patience patience_;
    Payoff spinning_;
    Episode before_;
    bool near_;
    Episode episode_ = 0;
    unsigned phase_ = 0;
    std::uint64_t word_ = 0;
    std::uint64_t overcount_ = 0;  ///< what the counter showed when somebody else had counted too
};

}  // namespace tollbar::shmem
