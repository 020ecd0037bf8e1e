// SPDX-License-Identifier: Apache-2.0
// A plan brought to the ranks of a communicator: words for those who share a node's memory, channels or network cards
// for the others, and one rank's course through all of them.
#pragma once

#include "agreement.hpp"
#include "cards.hpp"

#include "transports/mpi/course.hpp"
#include "transports/threads/segment.hpp"

#include <memory>
#include <optional>
#include <string_view>

namespace tollbar::mpi {

/// One rank's part. Made collectively, taken down alone.
class Meeting {
public:
    /// Collective; `number` (below 255) tells the meetings of one agreement apart and is the same on every rank. The
    /// spelling has no fault; where it names the card, the leaders have joined and bring theirs. Throws
    /// std::system_error when the MPI gives no channel.
    Meeting(const tollbar_carrier& carrier, const Agreement& agreement, std::string_view spelling, std::uint8_t number,
            std::unique_ptr<NicCard> card = nullptr);
    ~Meeting();
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;

    Course& course() noexcept { return *course_; }
    const Course& course() const noexcept { return *course_; }

    /// Enters the next episode. `call_site` may be null.
    void start(const void* call_site) noexcept {
        course_->start();
        if (seat_ == nullptr) return;
        seat_->arrived.store(course_->episode(), std::memory_order_relaxed);
        called_from(call_site);
    }

    /// Where this rank was in a barrier last, for reports, which order nothing.
    void called_from(const void* call_site) noexcept {
        if (seat_ != nullptr)
            seat_->entered.store(reinterpret_cast<std::uintptr_t>(call_site), std::memory_order_relaxed);
    }

    /// Where the ranks of this node meet; null when they have no words in common.
    const Segment* segment() const noexcept { return segment_ ? &*segment_ : nullptr; }

    /// This rank's seat there.
    Rank place() const noexcept { return place_; }

    /// Whether every rank arrives without waiting for anybody: an episode then needs no calls to get on.
    bool needs_no_calls() const noexcept { return needs_no_calls_; }

    /// Whether this rank leads a node on its card.
    bool has_card() const noexcept { return card_ != nullptr; }

    /// The ranks (with `by_nodes`: the nodes) that may be missing as far as messages or cards tell.
    struct Unheard {
        bool by_nodes = false;
        std::vector<Rank> who;
    };
    Unheard unheard() const;

private:
    /// The node's part in shared memory, or nothing when there is none to be had.
    void meet_here(const tollbar_carrier& carrier, const Agreement& agreement, const Layout& layout,
                   std::string_view spelling, std::uint64_t ticket);
    std::vector<CourseStep> around_node(const tollbar_carrier& carrier, const Agreement& agreement);
    std::vector<CourseStep> across(const tollbar_carrier& carrier, const Agreement& agreement);
    std::vector<WiredStep<NativeSync>> wired() const;
    void go_by_card(std::vector<CourseStep>& steps);

    std::shared_ptr<Arena> arena_;
    Offset block_ = 0;
    std::optional<Segment> segment_;
    Seat* seat_ = nullptr;
    Rank place_;
    std::optional<Plan> by_messages_;  ///< among ranks, or among nodes; with cards, what else goes on
    bool by_nodes_;
    Rank self_;                     ///< in by_messages_
    std::size_t steps_before_ = 0;  ///< of the course, before its first step of by_messages_
    std::size_t steps_within_ = 0;  ///< of the course, that are steps of by_messages_, in its order
    bool needs_no_calls_ = false;
    bool on_cards_;
    std::unique_ptr<NicCard> card_;
    std::unique_ptr<Course> course_;
};

}  // namespace tollbar::mpi
