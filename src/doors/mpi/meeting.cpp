// SPDX-License-Identifier: Apache-2.0
// Makes the node's words, opens the channels, and strings them and the card together in the order of the plan.
#include "meeting.hpp"

#include "spelling.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/environment.hpp>
#include <tollbar/unheard.hpp>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

namespace tollbar::mpi {

namespace {

constexpr std::atomic<Crowding> roomy{Crowding::roomy};
constexpr std::atomic<Crowding> crowded{Crowding::crowded};

CourseStep message(const tollbar_carrier& carrier, Rank peer, bool sends) {
    tollbar_channel* channel = sends ? carrier.open_to(carrier.state, peer) : carrier.open_from(carrier.state, peer);
    if (channel == nullptr)
        throw std::system_error(std::make_error_code(std::errc::io_error), "the MPI gave no channel");
    return {.by = CourseStep::By::message, .wired = {}, .channel = channel, .card = nullptr, .sends = sends};
}

CourseStep word(const WiredStep<NativeSync>& wired) {
    return {.by = CourseStep::By::word, .wired = wired, .channel = nullptr, .card = nullptr, .sends = false};
}

/// What the ranks here do among themselves in a flat plan, numbered from 0.
Plan among_these(const Plan& plan, const std::vector<Rank>& here) {
    std::vector<Program> programs;
    for (const Rank rank : here) {
        Program& program = programs.emplace_back();
        for (Step step : plan.program(rank)) {
            const auto peer = std::ranges::lower_bound(here, step.peer);
            if (peer == here.end() || *peer != step.peer) continue;
            step.peer = static_cast<Rank>(peer - here.begin());
            program.push_back(step);
        }
    }
    return {plan.name(), std::move(programs)};
}

}  // namespace

Meeting::Meeting(const tollbar_carrier& carrier, const Agreement& agreement, std::string_view spelling,
                 std::uint8_t number, std::unique_ptr<NicCard> card)
    : arena_(agreement.arena), place_(agreement.place), by_nodes_(outer_of(by_messages(spelling)).has_value()),
      self_(by_nodes_ ? agreement.node : carrier.rank), on_cards_(on_cards(spelling).has_value()),
      card_(std::move(card)) {
    const std::uint64_t ticket = ticket_of(agreement.terms, agreement.node, static_cast<std::uint8_t>(1 + number));
    const auto members = static_cast<Rank>(agreement.here.size());
    const bool one_node = agreement.terms.nodes == 1;
    const std::string plan = by_messages(spelling);
    by_messages_ = by_nodes_ ? make_plan(*outer_of(plan), agreement.terms.nodes) : make_plan(plan, carrier.ranks);
    if (arena_) {
        // Only who makes the words needs their whole layout.
        const bool makes = place_ == 0;
        Layout layout;
        if (makes && by_nodes_) layout = one_node ? lay_out_turnstile(members) : lay_out_gather_release(members);
        if (makes && !by_nodes_) layout = lay_out(among_these(*by_messages_, agreement.here));
        meet_here(carrier, agreement, layout, spelling, ticket);
    }
    needs_no_calls_ = one_node && by_nodes_ && segment_.has_value();
    std::vector<CourseStep> steps = by_nodes_ ? around_node(carrier, agreement) : across(carrier, agreement);
    CourseWaiting waiting{.policy = wait_policy_from_environment(),
                          .ringing = {},
                          .crowding = members > usable_cpus() ? &crowded : &roomy,
                          .lost = nullptr};
    if (segment_)
        waiting = {.policy = segment_->wait(),
                   .ringing = segment_->ringing(),
                   .crowding = &segment_->crowding(),
                   .lost = on_cards_ ? &segment_->seat(0).gave_up : nullptr};
    course_ = std::make_unique<Course>(carrier, std::move(steps), waiting);
}

Meeting::~Meeting() {
    const bool inside = course_ && !course_->finished();
    course_.reset();
    if (segment_)
        segment_->give_up_seat(place_, inside ? Segment::Leaving::inside_one : Segment::Leaving::between_episodes);
    segment_.reset();
    if (block_ != 0) arena_->give_back(block_);
}

void Meeting::meet_here(const tollbar_carrier& carrier, const Agreement& agreement, const Layout& layout,
                        std::string_view spelling, std::uint64_t ticket) {
    const auto members = static_cast<std::uint32_t>(agreement.here.size());
    if (place_ == 0) {
        const Blueprint blueprint{.layout = layout,
                                  .plan = std::string(spelling),
                                  .ranks = members,
                                  .wait = wait_policy_from_environment(),
                                  .scope = Scope::shared,
                                  .may_use_membarrier = false};
        block_ = arena_->take(Segment::bytes_for(blueprint), members);
        if (block_ != 0) segment_.emplace(arena_->at(block_), blueprint);
        for (Rank place = 0; segment_ && place < members; ++place)
            segment_->seat(place).known_as.store(agreement.here[place], std::memory_order_relaxed);  // post() releases
        while (!arena_->post(ticket, block_, members - 1)) carrier.progress(carrier.state);
    } else {
        using namespace std::chrono_literals;
        constexpr int yields = 1000;
        for (int look = 0; !arena_->look_up(ticket, block_); ++look) {
            carrier.progress(carrier.state);
            if (look < yields) {
                std::this_thread::yield();
            } else {
                std::this_thread::sleep_for(100us);
            }
        }
        if (block_ != 0) segment_.emplace(arena_->at(block_));
    }
    if (!segment_) return;
    segment_->take_seat(place_, agreement.standing);
    seat_ = &segment_->seat(place_);
}

std::vector<WiredStep<NativeSync>> Meeting::wired() const {
    return segment_ ? segment_->wire(place_) : std::vector<WiredStep<NativeSync>>();
}

/// What the nodes do among themselves is one step to begin it, and one to await its end.
void Meeting::go_by_card(std::vector<CourseStep>& steps) {
    for (const bool arrives : {true, false})
        steps.push_back(
            {.by = CourseStep::By::card, .wired = {}, .channel = nullptr, .card = card_.get(), .sends = arrives});
}

std::vector<CourseStep> Meeting::around_node(const tollbar_carrier& carrier, const Agreement& agreement) {
    std::vector<CourseStep> steps;
    const auto words = wired();
    const bool leads = place_ == 0;
    const bool alone = agreement.here.size() == 1;
    const bool one_node = agreement.terms.nodes == 1;
    // Of the two words here, the first comes before what the leader does elsewhere, the second after.
    const auto here = [&](bool before) {
        if (alone) return;
        if (segment_) {
            steps.push_back(word(words[before ? 0 : 1]));
        } else if (leads) {
            for (const Rank rank : agreement.here)
                if (rank != carrier.rank) steps.push_back(message(carrier, rank, !before));
        } else {
            steps.push_back(message(carrier, agreement.here.front(), before));
        }
    };
    here(true);
    steps_before_ = steps.size();
    if (card_) {
        go_by_card(steps);
    } else if (leads && !one_node) {
        for (const Step step : by_messages_->program(self_))
            steps.push_back(message(carrier, agreement.leaders[step.peer], is_signal(step)));
        steps_within_ = steps.size() - steps_before_;
    }
    here(false);
    return steps;
}

std::vector<CourseStep> Meeting::across(const tollbar_carrier& carrier, const Agreement& agreement) {
    std::vector<CourseStep> steps;
    const auto words = wired();
    auto next_word = words.begin();
    bool by_card = false;
    for (const Step step : by_messages_->program(self_)) {
        const bool is_here = std::ranges::binary_search(agreement.here, step.peer);
        if (on_cards_ && !is_here) {
            if (!by_card) go_by_card(steps);
            by_card = true;
            continue;
        }
        steps.push_back(is_here && segment_ ? word(*next_word++) : message(carrier, step.peer, is_signal(step)));
        if (!by_card) ++steps_within_;
    }
    return steps;
}

Meeting::Unheard Meeting::unheard() const {
    if (card_ && course_->awaits_card()) return {.by_nodes = true, .who = card_->missing()};
    const std::size_t done = course_->steps_done();
    if (done < steps_before_ || done >= steps_before_ + steps_within_) return {};
    return {.by_nodes = by_nodes_, .who = tollbar::unheard(*by_messages_, self_, done - steps_before_)};
}

}  // namespace tollbar::mpi
