// SPDX-License-Identifier: Apache-2.0
// One rank of a group: everything that is not the hot path.
#include <tollbar/participant.hpp>

#include "segment.hpp"

#include "base/environment.hpp"
#include "missing/members.hpp"
#include "missing/reporting.hpp"
#include "base/say.h"
#include "plan/wording.hpp"

#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace tollbar {

using namespace detail;

participant::participant(std::shared_ptr<Segment> segment, Rank rank) : rank_(rank), segment_(std::move(segment)) {
    segment_->demand_rank(rank);
    segment_->take_rank(rank);
    try {
        steps_ = segment_->steps(segment_->slot_of(rank));
    } catch (...) {
        segment_->give_up_rank(rank, Segment::Leaving::between_episodes);
        throw;
    }
    runner_ = segment_->runner(rank, steps_);
    arrived_ = &segment_->record(rank).arrived;
}

participant::participant(participant&& other) noexcept = default;

participant& participant::operator=(participant&& other) noexcept {
    if (this != &other) {
        leave();
        runner_ = other.runner_;
        arrived_ = other.arrived_;
        rank_ = other.rank_;
        stage_ = other.stage_;
        segment_ = std::move(other.segment_);
        steps_ = std::move(other.steps_);
    }
    return *this;
}

participant::~participant() { leave(); }

void participant::leave() noexcept {
    // A child after fork(2) holds a copy of its parent's participants, not their ranks.
    if (segment_ && segment_->record(rank_).process.load(std::memory_order_relaxed) == getpid())
        segment_->give_up_rank(rank_,
                               runner_.finished() ? Segment::Leaving::between_episodes : Segment::Leaving::inside_one);
    segment_.reset();
}

void participant::expect(bool sound, const char* misuse) const noexcept {
    if (sound) return;
    tollbar_say("rank %u: %s", static_cast<unsigned>(rank_), misuse);
    std::abort();
}

void participant::finish() noexcept {
    wait_reporting(
        own_timeout(), [this](auto deadline) { return runner_.finish(deadline); },
        [this](auto waited) { return segment_->report_missing(rank_, runner_.episode(), waited), true; });
}

wait_result participant::wait_until_deadline(Deadline deadline) {
    const bool done = runner_.finish(deadline);
    if (done) stage_ = Stage::tested;
    return {.done = done, .missing = done ? std::vector<absent>() : missing()};
}

std::vector<absent> participant::missing() const {
    return segment_->missing(arrived_->load(std::memory_order_relaxed));
}

std::string to_text(const absent& one) { return missing::text_of(missing::members_of(std::vector{one})); }

}  // namespace tollbar
