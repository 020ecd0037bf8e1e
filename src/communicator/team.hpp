// SPDX-License-Identifier: Apache-2.0
// One rank's running state in the barrier of a communicator: words for the ranks that share a node's memory, messages
// or NICs for the others.
#pragma once

#include "composite.hpp"
#include "meeting.hpp"
#include "missing.hpp"
#include "nics.hpp"
#include "participant.h"

#include "transports/words/segment.hpp"

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::detail::mpi {

/// Made collectively, taken down alone. Episodes may be entered before earlier ones are over: they are queued, and
/// begin in order inside later calls. The functions of participant.h state the promises of the calls.
class Team {
public:
    /// Collective; `number` (below 255) tells the teams of one meeting apart and is the same on every rank.
    /// The plan's spelling has no fault; where it names the NIC, the leaders have joined and bring theirs. Throws
    /// std::system_error or std::bad_alloc, perhaps on one rank alone, when the MPI gives no channel or memory is out;
    /// the others do not wait for it here.
    Team(const SetUp& set_up, const Meeting& meeting, std::shared_ptr<const Reports> reports, std::string_view plan,
         std::uint8_t number, std::unique_ptr<NodeNic> nic = nullptr);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    std::uint64_t arrive(const void* call_site) noexcept {
        call_site_ = call_site;
        ++arrived_;
        advance();
        return arrived_;
    }

    bool test(std::uint64_t episode) noexcept;

    /// EPIPE or EIO where the episode will never be over; else 0.
    int failed(std::uint64_t episode) noexcept;

    /// The result is that of failed().
    int wait(std::uint64_t episode) noexcept;
    bool wait_until(std::uint64_t episode, Deadline deadline) noexcept;

    int arrive_and_wait(const void* call_site) noexcept {
        const std::uint64_t episode = ++arrived_;
        call_site_ = call_site;
        if (runner_.finished() && runner_.episode() + 1 == episode && !reports_->wanted()) {
            start();
            if (runner_.finish(Never{})) return 0;
        }
        return wait(episode);
    }

    /// Keeps the place in the program where this rank was in a barrier last, for reports, which order nothing.
    void called_from(const void* call_site) noexcept {
        if (record_ != nullptr)
            record_->entered.store(reinterpret_cast<std::uintptr_t>(call_site), std::memory_order_relaxed);
    }

    /// From the next wait on.
    void set_spinning(tollbar_spinning spinning) noexcept;

    const std::string& plan() const noexcept { return spelling_; }
    const Reports& reports() const noexcept { return *reports_; }
    const void* call_site() const noexcept { return call_site_; }

    /// The number of this rank's node, and of this rank among those of the node.
    Rank node() const noexcept { return node_; }
    Rank index() const noexcept { return index_; }

    /// The episode that was begun last.
    Episode episode() const noexcept { return runner_.episode(); }

    /// Whether no further episode ends, because the node's NIC is gone or the MPI lost a message.
    bool lost() const noexcept { return runner_.transport().gone(); }

    /// The memory that the ranks of this node share; null when they have no words in common.
    const Segment* segment() const noexcept { return segment_ ? &*segment_ : nullptr; }

    /// Whether every rank arrives without waiting for anybody: an episode then needs no calls to get on.
    bool needs_no_calls() const noexcept { return needs_no_calls_; }

    /// The ranks (with `by_nodes`: the nodes) that may be missing as far as messages or NICs tell.
    struct Unheard {
        bool by_nodes = false;
        std::vector<Rank> numbers;
    };
    Unheard unheard() const;

private:
    Team(const SetUp& set_up, const Meeting& meeting, std::shared_ptr<const Reports> reports, std::string_view plan);

    /// The node's part in shared memory, or nothing when there is none to be had.
    void share(const SetUp& set_up, const Meeting& meeting, std::uint64_t ticket);
    void make_words(const Meeting& meeting);

    void start() noexcept {
        runner_.start();
        if (record_ == nullptr) return;
        record_->arrived.store(runner_.episode(), std::memory_order_relaxed);
        called_from(call_site_);
    }

    /// Begins and goes on with episodes as far as possible without blocking.
    void advance() noexcept;
    bool over(std::uint64_t episode) const noexcept {
        return runner_.episode() > episode || (runner_.episode() == episode && runner_.finished());
    }

    /// The reason why lost() is true: EPIPE or EIO.
    int why_lost() const noexcept { return messages_.gone() || !on_nics_ ? EIO : EPIPE; }

    std::shared_ptr<const Reports> reports_;
    std::string spelling_;
    Rank node_;
    Rank index_;
    std::shared_ptr<Arena> arena_;
    Offset block_ = 0;
    std::optional<Segment> segment_;
    RankRecord* record_ = nullptr;
    std::optional<Plan> plan_;  ///< for reports
    bool needs_no_calls_ = false;
    bool on_nics_ = false;
    bool said_lost_ = false;  ///< that the NIC is gone
    std::unique_ptr<NodeNic> nic_;
    const std::atomic<Occupancy>* occupancy_;
    Messages messages_;
    std::vector<Composite::Step> steps_;
    Runner<Composite> runner_;
    std::uint64_t arrived_ = 0;  ///< the latest episode entered or queued
    const void* call_site_ = nullptr;
};

}  // namespace tollbar::detail::mpi
