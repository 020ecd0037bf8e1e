// SPDX-License-Identifier: Apache-2.0
// One rank's running state in the barrier of a communicator: words for those who share a node's memory, messages or
// network cards for the others.
#pragma once

#include "agreement.hpp"
#include "cards.hpp"
#include "composite.hpp"
#include "participant.h"

#include "transports/words/segment.hpp"

#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace tollbar::mpi {

/// Made collectively, taken down alone.
class Participant {
public:
    /// Collective; `number` (below 255) tells the participants of one agreement apart and is the same on every rank.
    /// The spelling has no fault; where it names the card, the leaders have joined and bring theirs. Throws
    /// std::system_error or std::bad_alloc, perhaps on one rank alone, when the MPI gives no channel or memory is out;
    /// the others do not wait for it here.
    Participant(const tollbar_p2p& p2p, const Agreement& agreement, std::string_view spelling, std::uint8_t number,
                std::unique_ptr<NodeNic> nic = nullptr);
    ~Participant();
    Participant(const Participant&) = delete;
    Participant& operator=(const Participant&) = delete;

    Runner<Composite>& runner() noexcept { return runner_; }
    const Runner<Composite>& runner() const noexcept { return runner_; }

    /// Whether no further episode ends, because the node's card is gone or the MPI lost a message.
    bool lost() const noexcept { return runner_.transport().gone(); }

    /// Which of the two: EPIPE or EIO.
    int why_lost() const noexcept { return messages_.gone() || !on_cards_ ? EIO : EPIPE; }

    /// Enters the next episode. `call_site` may be null.
    void start(const void* call_site) noexcept {
        runner_.start();
        if (record_ == nullptr) return;
        record_->arrived.store(runner_.episode(), std::memory_order_relaxed);
        called_from(call_site);
    }

    /// Where this rank was in a barrier last, for reports, which order nothing.
    void called_from(const void* call_site) noexcept {
        if (record_ != nullptr)
            record_->entered.store(reinterpret_cast<std::uintptr_t>(call_site), std::memory_order_relaxed);
    }

    /// From the next wait on.
    void set_spinning(tollbar_spinning spinning) noexcept;

    /// What the ranks of this node share; null when they have no words in common.
    const Segment* segment() const noexcept { return segment_ ? &*segment_ : nullptr; }

    /// This rank's place there.
    Rank place() const noexcept { return place_; }

    /// Whether every rank arrives without waiting for anybody: an episode then needs no calls to get on.
    bool needs_no_calls() const noexcept { return needs_no_calls_; }

    /// Whether this rank leads a node on its card.
    bool has_nic() const noexcept { return nic_ != nullptr; }

    /// The ranks (with `by_nodes`: the nodes) that may be missing as far as messages or cards tell.
    struct Unheard {
        bool by_nodes = false;
        std::vector<Rank> who;
    };
    Unheard unheard() const;

private:
    Participant(const tollbar_p2p& p2p, const Agreement& agreement);

    /// The node's part in shared memory, or nothing when there is none to be had.
    void share(const tollbar_p2p& p2p, const Agreement& agreement, std::string_view spelling, std::uint64_t ticket);

    void make_words(const Agreement& agreement, std::string_view spelling);

    std::shared_ptr<Arena> arena_;
    Offset block_ = 0;
    std::optional<Segment> segment_;
    RankRecord* record_ = nullptr;
    Rank place_;
    std::optional<Plan> plan_;  ///< for reports
    bool needs_no_calls_ = false;
    bool on_cards_ = false;
    std::unique_ptr<NodeNic> nic_;
    const std::atomic<Crowding>* crowding_;
    Messages messages_;
    std::vector<Composite::Step> steps_;
    Runner<Composite> runner_;
};

}  // namespace tollbar::mpi
