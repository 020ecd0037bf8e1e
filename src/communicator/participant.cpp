// SPDX-License-Identifier: Apache-2.0
// Makes or finds the node's words, and places the plan's steps at them, in messages, and on the node's card.
#include "participant.hpp"

#include "placing.hpp"
#include "set_up.hpp"
#include "spelling.hpp"

#include "runtime/environment.hpp"

#include <tollbar/unheard.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace tollbar::mpi {

namespace {

constexpr std::atomic<Crowding> roomy{Crowding::roomy};
constexpr std::atomic<Crowding> crowded{Crowding::crowded};

/// On one node the last to come plays a role; between nodes it has to be known who does.
Player player_of(const Agreement& agreement) { return agreement.terms.nodes == 1 ? Player::last : Player::first; }

/// Whether no rank awaits anything before it has told all that it has to tell: all of them count up at one word. Where
/// some members of its role are roles themselves, there are fewer of them than ranks.
bool is_one_counter(const std::vector<Composite::Step>& steps, Rank ranks) {
    return steps.size() == 2 && steps[0].word.kind == WordKind::count && steps[0].word.share == ranks &&
           steps[1].word.word == steps[0].word.word;
}

}  // namespace

Participant::Participant(const tollbar_p2p& p2p, const Agreement& agreement)
    : arena_(agreement.arena), place_(agreement.place),
      crowding_(agreement.here.size() > masked_cpus() ? &crowded : &roomy),
      messages_(p2p, environment::wait(), *crowding_) {}

// From here on what goes wrong leads to the destructor.
Participant::Participant(const tollbar_p2p& p2p, const Agreement& agreement, std::string_view spelling,
                         std::uint8_t number, std::unique_ptr<NodeNic> nic)
    : Participant(p2p, agreement) {
    nic_ = std::move(nic);
    if (arena_)
        share(p2p, agreement, spelling,
              ticket_of(agreement.terms, agreement.node, static_cast<std::uint8_t>(1 + number)));
    const Plan plan = plan_of(spelling, ranks_of_nodes(agreement.node_of, agreement.terms.nodes));
    if (segment_) crowding_ = &segment_->crowding();
    std::vector<WordStep<NativeSync>> words;
    if (segment_) words = segment_->steps(place_);
    Placing placing(plan, segment_ ? player_of(agreement) : Player::first,
                    segment_ ? agreement.here : std::vector<Rank>{p2p.rank});
    steps_ = placing.steps(p2p.rank, words, &messages_, nic_.get());
    on_cards_ = on_cards(spelling).has_value();
    needs_no_calls_ = segment_ && agreement.terms.nodes == 1 && is_one_counter(steps_, p2p.ranks);
    // Of nodes a plan has lists of all ranks; any other one is arithmetic.
    if (!is_of_nodes(plan.name()) || agreement.terms.timeout_s > 0) plan_ = plan;

    Composite::Parts parts{.messages = &messages_, .outer = nic_.get()};
    if (segment_ && agreement.terms.nodes > 1) parts.gave_up = &segment_->record(0).gave_up;
    runner_ = {steps_.data(), static_cast<std::uint32_t>(steps_.size()), 0, Composite(parts)};
    set_spinning(TOLLBAR_SPINNING_ALLOWED);
}

Participant::~Participant() {
    if (record_ != nullptr)
        segment_->give_up_rank(place_,
                               runner_.finished() ? Segment::Leaving::between_episodes : Segment::Leaving::inside_one);
    segment_.reset();
    if (block_ != 0) arena_->give_back(block_);
}

void Participant::make_words(const Agreement& agreement, std::string_view spelling) {
    const auto members = static_cast<std::uint32_t>(agreement.here.size());
    // Only who makes the words needs their whole layout.
    const Plan plan = plan_of(spelling, ranks_of_nodes(agreement.node_of, agreement.terms.nodes));
    Placing placing(plan, player_of(agreement), agreement.here);
    const Blueprint blueprint{.layout = placing.layout(),
                              .plan = plan.name(),
                              .ranks = members,
                              .wait = environment::wait(),
                              .scope = Scope::shared,
                              .may_use_membarrier = false};
    const Offset block = arena_->take(Segment::bytes_for(blueprint), members);
    if (block == 0) return;
    segment_.emplace(arena_->at(block), blueprint);
    block_ = block;
    for (Rank place = 0; place < members; ++place)
        segment_->record(place).known_as.store(agreement.here[place], std::memory_order_relaxed);  // post() releases
}

void Participant::share(const tollbar_p2p& p2p, const Agreement& agreement, std::string_view spelling,
                        std::uint64_t ticket) {
    const SetUp waiting(p2p, "", 0);
    if (place_ == 0) {
        std::exception_ptr failed;
        try {
            make_words(agreement, spelling);
        } catch (const std::exception&) {
            failed = std::current_exception();  // the others look for the words, and find that there are none
        }
        const auto others = static_cast<std::uint32_t>(agreement.here.size()) - 1;
        waiting.wait_until([&] { return arena_->post(ticket, block_, others); });
        if (failed) std::rethrow_exception(failed);
    } else {
        Offset block = 0;
        waiting.wait_until([&] { return arena_->look_up(ticket, block); });
        if (block != 0) segment_.emplace(arena_->at(block));
        block_ = block;
    }
    if (!segment_) return;
    segment_->take_rank(place_, agreement.standing);
    record_ = &segment_->record(place_);
}

void Participant::set_spinning(tollbar_spinning spinning) noexcept {
    const std::atomic<Crowding>& heeded = spinning == TOLLBAR_SPINNING_NEVER ? crowded : *crowding_;
    messages_.set_crowding(heeded);
    if (segment_) runner_.transport().set_words({segment_->wait(), segment_->waking(), heeded});
}

Participant::Unheard Participant::unheard() const {
    if (runner_.finished()) return {};
    const Composite::Step& next = steps_[runner_.steps_done()];
    if (next.by == Composite::Step::By::outer_end) return {.by_nodes = true, .who = nic_->missing()};
    if (!plan_ || next.position == Composite::Step::nowhere) return {};
    return {.by_nodes = false, .who = tollbar::unheard(*plan_, next.member, next.position)};
}

}  // namespace tollbar::mpi
