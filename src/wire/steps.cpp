// SPDX-License-Identifier: Apache-2.0
// A new step begins where a signal follows anything, or an await an await: program order is all there is to keep.
#include "steps.hpp"

#include "plan/schedule.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace tollbar::detail {

namespace {

using TollSteps = std::vector<toll_step>;

constexpr toll_step empty{.to = TOLLBAR_NOBODY, .from = TOLLBAR_NOBODY, .to_step = 0, .from_step = 0};

/// The steps without the numbers of their other ends.
TollSteps loose_steps(const Program& program) {
    TollSteps steps;
    for (const Step step : program) {
        if (is_signal(step) || steps.empty() || steps.back().from != TOLLBAR_NOBODY) steps.push_back(empty);
        (is_signal(step) ? steps.back().to : steps.back().from) = step.peer;
    }
    if (steps.size() > std::numeric_limits<toll_u16>::max())
        throw std::invalid_argument("a rank has " + std::to_string(steps.size()) +
                                    " steps, more than frames can number");
    return steps;
}

/// The step of `peer` whose `end` (to or from) is `self`; there is one.
toll_u16 other_end(const Plan& plan, Rank peer, toll_u32 toll_step::*end, Rank self) {
    const TollSteps steps = loose_steps(plan.program(peer));
    return static_cast<toll_u16>(std::ranges::find(steps, self, end) - steps.begin());
}

}  // namespace

std::size_t count_steps(const Program& program) { return loose_steps(program).size(); }

std::vector<toll_step> compile_steps(const Plan& plan, Rank self) {
    const Plan played = played_by_first(plan);
    Lowering(played, Player::first).operations(self);  // refuses what has not two ends
    TollSteps steps = loose_steps(played.program(self));
    for (toll_step& step : steps) {
        if (step.to != TOLLBAR_NOBODY) step.to_step = other_end(played, step.to, &toll_step::from, self);
        if (step.from != TOLLBAR_NOBODY) step.from_step = other_end(played, step.from, &toll_step::to, self);
    }
    return steps;
}

}  // namespace tollbar::detail
