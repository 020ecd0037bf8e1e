// SPDX-License-Identifier: Apache-2.0
// Finds out of each operation whether both its ends are here.
#include "local_schedule.hpp"

#include <algorithm>
#include <utility>

namespace tollbar::detail::mpi {

using Kind = Operation::Kind;
using By = Composite::Step::By;

LocalSchedule::LocalSchedule(const Plan& plan, Player player, std::vector<Rank> here)
    : here_(std::move(here)),
      lowering_(plan, player, [this](Rank first, Rank other) { return is_here(first) == is_here(other); }) {}

bool LocalSchedule::is_here(Rank rank) const { return std::ranges::binary_search(here_, rank); }

Layout LocalSchedule::layout(RolesAre roles) {
    return lay_out(lowering_.schedule(here_), roles, [this](const Operation& step) { return is_here(step.peer); });
}

std::vector<Composite::Step> LocalSchedule::steps(Rank self, std::span<const WordStep<NativeSync>> words,
                                                  Messages* messages, const OuterBarrier* outer) {
    std::vector<Composite::Step> steps;
    auto next_word = words.begin();
    bool been_outside = false;
    for (const Operation& step : lowering_.operations(self)) {
        if (is_here(step.peer)) {
            steps.push_back({.by = By::word, .word = *next_word++});
            steps.back().word.skip = step.skip;  // over all steps, not those at words alone
        } else if (outer == nullptr) {
            const tollbar::Step outside = step.kind == Kind::signal ? signal(step.peer) : await(step.peer);
            steps.push_back({.by = By::message, .message = messages->open(outside)});
        } else if (!std::exchange(been_outside, true)) {
            for (const By by : {By::outer_arrival, By::outer_end}) steps.push_back({.by = by});
        }
        if (step.kind != Kind::await) continue;
        steps.back().member = step.to;
        steps.back().position = step.position;
    }
    if (messages == nullptr) return steps;
    for (const MessageStep& step : messages->leaving()) steps.push_back({.by = By::message, .message = step});
    return steps;
}

}  // namespace tollbar::detail::mpi
