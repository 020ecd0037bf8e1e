// SPDX-License-Identifier: Apache-2.0
// Asks of each step where its ends are.
#include "placing.hpp"

#include <algorithm>
#include <utility>

namespace tollbar::mpi {

namespace {

using Kind = LoweredStep::Kind;
using By = Composite::Step::By;

}  // namespace

Placing::Placing(const Plan& plan, Player player, std::vector<Rank> here)
    : plan_(plan), here_(std::move(here)),
      lowering_(plan, player, [this](Rank first, Rank member) { return is_here(first) == is_here(member); }) {}

bool Placing::is_here(Rank member) { return std::ranges::binary_search(here_, lowering_.first_player(member)); }

bool Placing::stays_here(const LoweredStep& step) {
    const bool is_of_role = step.kind != Kind::signal && step.kind != Kind::await;
    return is_of_role ? is_here(step.role) : is_here(step.from) && is_here(step.to);
}

Layout Placing::layout(RolesAre roles) {
    WordPlacement placement(roles);
    Layout layout{.lines = 0, .sleepers = 0, .first = {0}, .steps = {}};
    for (const Rank self : here_) {
        for (const LoweredStep& step : lowering_.steps(self))
            if (stays_here(step)) layout.steps.push_back(placement.place(step));
        layout.first.push_back(static_cast<std::uint32_t>(layout.steps.size()));
    }
    layout.lines = placement.lines();
    layout.sleepers = placement.sleepers();
    return layout;
}

std::vector<Composite::Step> Placing::steps(Rank self, std::span<const WordStep<NativeSync>> words, Messages* messages,
                                            const OuterBarrier* outer) {
    std::vector<Composite::Step> steps;
    auto next_word = words.begin();
    bool been_outside = false;
    for (const LoweredStep& step : lowering_.steps(self)) {
        if (stays_here(step)) {
            steps.push_back({.by = By::word, .word = *next_word++});
            steps.back().word.skip = step.skip;  // over all steps, not those at words alone
        } else if (outer == nullptr) {
            const bool tells = step.kind == Kind::signal;
            const Rank peer = lowering_.first_player(tells ? step.to : step.from);
            steps.push_back({.by = By::message, .message = messages->open(tells ? signal(peer) : await(peer))});
        } else if (!std::exchange(been_outside, true)) {
            for (const By by : {By::outer_arrival, By::outer_end}) steps.push_back({.by = by});
        }
        if (step.kind != Kind::await) continue;
        const Program program = plan_.program(step.to);
        steps.back().member = step.to;
        steps.back().position = static_cast<std::uint32_t>(std::ranges::find(program, await(step.from)) -
                                                           program.begin());
    }
    if (messages == nullptr) return steps;
    for (const MessageStep& step : messages->leaving()) steps.push_back({.by = By::message, .message = step});
    return steps;
}

}  // namespace tollbar::mpi
