// SPDX-License-Identifier: Apache-2.0
// Makes or finds the node's words, and has the plan's steps done by them, by messages, and by the node's NIC.
#include "team.hpp"

#include "local_schedule.hpp"
#include "spelling.hpp"

#include "analysis/unheard.hpp"
#include "base/environment.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace tollbar::detail::mpi {

namespace {

constexpr std::atomic<Occupancy> roomy{Occupancy::exclusive};
constexpr std::atomic<Occupancy> crowded{Occupancy::oversubscribed};

/// On one node the last to come plays a role; between nodes the player has to be known before.
Player player_of(const Meeting& meeting) { return meeting.decision.nodes == 1 ? Player::last : Player::first; }

/// Whether every rank signals all that it has to before it awaits anything: all of them count up at one word. A plan
/// some of whose roles are members of a role has fewer counts at that word than ranks.
bool is_one_counter(const std::vector<Composite::Step>& steps, Rank ranks) {
    return steps.size() == 2 && steps[0].word.kind == WordKind::count && steps[0].word.share == ranks &&
           steps[1].word.word == steps[0].word.word;
}

}  // namespace

Team::Team(const SetUp& set_up, const Meeting& meeting, std::shared_ptr<const Reports> reports, std::string_view plan)
    : reports_(std::move(reports)), spelling_(plan), node_(meeting.node), index_(meeting.index), arena_(meeting.arena),
      on_nics_(nic_shape(plan).has_value()), occupancy_(meeting.here.size() > masked_cpus() ? &crowded : &roomy),
      messages_(set_up.p2p(), environment::wait(), *occupancy_) {}

// From here on a failure leads to the destructor.
Team::Team(const SetUp& set_up, const Meeting& meeting, std::shared_ptr<const Reports> reports, std::string_view plan,
           std::uint8_t number, std::unique_ptr<NodeNic> nic)
    : Team(set_up, meeting, std::move(reports), plan) {
    nic_ = std::move(nic);
    if (arena_) {
        const std::uint64_t ticket = ticket_of(meeting.decision, node_, static_cast<std::uint8_t>(1 + number));
        share(set_up, meeting, ticket);
    }
    const Rank self = set_up.p2p().rank;
    const Plan made = plan_of(spelling_, meeting.decision.nodes_with_ranks());
    std::vector<WordStep<NativeSync>> words;
    if (segment_) {
        occupancy_ = &segment_->occupancy();
        words = segment_->steps(index_);
    }
    LocalSchedule schedule(made, segment_ ? player_of(meeting) : Player::first,
                           segment_ ? meeting.here : std::vector<Rank>{self});
    steps_ = schedule.steps(self, words, &messages_, nic_.get());
    needs_no_calls_ = segment_ && meeting.decision.nodes == 1 && is_one_counter(steps_, set_up.p2p().ranks);
    // A plan of nodes has lists of all ranks; any other one is arithmetic.
    if (!is_of_nodes(made.name()) || reports_->wanted()) plan_ = made;

    Composite::Parts parts{.messages = &messages_, .outer = nic_.get()};
    if (segment_ && meeting.decision.nodes > 1) parts.gave_up = &segment_->record(0).gave_up;
    runner_ = {steps_.data(), static_cast<std::uint32_t>(steps_.size()), 0, Composite(parts)};
    set_spinning(TOLLBAR_SPINNING_ALLOWED);
}

Team::~Team() {
    if (record_ != nullptr)
        segment_->give_up_rank(index_,
                               runner_.finished() ? Segment::Leaving::between_episodes : Segment::Leaving::inside_one);
    segment_.reset();
    if (block_ != 0) arena_->give_back(block_);
}

void Team::make_words(const Meeting& meeting) {
    const auto members = static_cast<std::uint32_t>(meeting.here.size());
    // Only the rank that makes the words needs their whole layout.
    const Plan plan = plan_of(spelling_, meeting.decision.nodes_with_ranks());
    LocalSchedule schedule(plan, player_of(meeting), meeting.here);
    const Blueprint blueprint{.layout = schedule.layout(),
                              .plan = plan.name(),
                              .ranks = members,
                              .wait = environment::wait(),
                              .scope = Scope::shared,
                              .may_use_membarrier = false};
    const Offset block = arena_->take(Segment::bytes_for(blueprint), members);
    if (block == 0) return;
    segment_.emplace(arena_->at(block), blueprint);
    block_ = block;
    for (Rank index = 0; index < members; ++index)
        segment_->record(index).known_as.store(meeting.here[index], std::memory_order_relaxed);  // post() releases
}

void Team::share(const SetUp& set_up, const Meeting& meeting, std::uint64_t ticket) {
    if (meeting.leads()) {
        std::exception_ptr failed;
        try {
            make_words(meeting);
        } catch (const std::exception&) {
            failed = std::current_exception();  // the others look for the words, and find that there are none
        }
        const auto others = static_cast<std::uint32_t>(meeting.here.size()) - 1;
        set_up.wait_until([&] { return arena_->post(ticket, block_, others); });
        if (failed) std::rethrow_exception(failed);
    } else {
        Offset block = 0;
        set_up.wait_until([&] { return arena_->look_up(ticket, block); });
        if (block != 0) segment_.emplace(arena_->at(block));
        block_ = block;
    }
    if (!segment_) return;
    segment_->take_rank(index_, meeting.standing);
    record_ = &segment_->record(index_);
}

void Team::advance() noexcept {
    for (;;) {
        if (!runner_.finished()) {
            if (!runner_.advance()) return;
        } else if (runner_.episode() < arrived_) {
            start();
        } else {
            return;
        }
    }
}

bool Team::test(std::uint64_t episode) noexcept {
    advance();
    if (over(episode)) return true;
    runner_.transport().look();
    return lost();
}

int Team::failed(std::uint64_t episode) noexcept {
    if (over(episode) || !lost()) return 0;
    advance();  // to the end of the episodes that had ended when it was lost
    if (over(episode)) return 0;
    if (nic_ && why_lost() == EPIPE && !std::exchange(said_lost_, true)) reports_->tell_lost(*this);
    return why_lost();
}

int Team::wait(std::uint64_t episode) noexcept {
    while (advance(), !over(episode)) {
        if (const int error = failed(episode); error != 0) return error;
        wait_reporting(
            reports_->timeout(), [this](auto deadline) { return runner_.finish(deadline); },
            [this](auto waited) {
                if (!lost()) reports_->report(*this, waited);
                return !lost();
            });
    }
    return 0;
}

bool Team::wait_until(std::uint64_t episode, Deadline deadline) noexcept {
    while (advance(), !over(episode))
        if (!runner_.finish(deadline)) return over(episode);
    return true;
}

void Team::set_spinning(tollbar_spinning spinning) noexcept {
    const std::atomic<Occupancy>& heeded = spinning == TOLLBAR_SPINNING_NEVER ? crowded : *occupancy_;
    messages_.set_occupancy(heeded);
    if (!segment_) return;
    const bool may_spin = needs_no_calls_ && spinning != TOLLBAR_SPINNING_NEVER;
    runner_.transport().set_words({segment_->wait(), segment_->waking(), heeded},
                                  may_spin ? segment_->records() : std::span<RankRecord>());
}

Team::Unheard Team::unheard() const {
    if (runner_.finished()) return {};
    const Composite::Step& next = steps_[runner_.steps_done()];
    if (next.by == Composite::Step::By::outer_end) return {.by_nodes = true, .numbers = nic_->missing()};
    if (!plan_ || next.position == Composite::Step::nowhere) return {};
    return {.by_nodes = false, .numbers = detail::unheard(*plan_, next.member, next.position)};
}

}  // namespace tollbar::detail::mpi
