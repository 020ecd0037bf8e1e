// SPDX-License-Identifier: Apache-2.0
// A new step begins where a signal follows anything, or an await an await: program order is all there is to keep.
#include "steps.hpp"

#include <limits>
#include <map>
#include <stdexcept>
#include <string>

namespace tollbar {

namespace {

using Steps = std::vector<toll_step>;

constexpr toll_step empty{.to = TOLLBAR_NOBODY, .from = TOLLBAR_NOBODY, .to_step = 0, .from_step = 0};

/// The steps without the numbers of their other ends.
Steps loose_steps(const Plan& plan, Rank self) {
    Steps steps;
    for (const Step step : plan.program(self)) {
        if (is_signal(step)) {
            steps.push_back(empty);
            steps.back().to = step.peer;
        } else {
            if (steps.empty() || steps.back().from != TOLLBAR_NOBODY) steps.push_back(empty);
            steps.back().from = step.peer;
        }
    }
    if (steps.size() > std::numeric_limits<toll_u16>::max())
        throw std::invalid_argument("rank " + std::to_string(self) + " of " + plan.name() + " has too many steps");
    return steps;
}

/// Peers are asked for their steps once, however often they are met.
class OtherEnds {
public:
    OtherEnds(const Plan& plan, Rank self) : plan_(plan), self_(self) {}

    /// The one step of `peer` whose `end` (to or from) is this rank.
    toll_u16 find(Rank peer, toll_u32 toll_step::*end) {
        const Steps& steps = steps_of(peer);
        std::size_t found = steps.size();
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (steps[i].*end != self_) continue;
            if (found != steps.size()) fail(peer, "more than once");
            found = i;
        }
        if (found == steps.size()) fail(peer, "at one end only");
        return static_cast<toll_u16>(found);
    }

private:
    const Steps& steps_of(Rank peer) {
        const auto known = steps_.find(peer);
        return known != steps_.end() ? known->second : steps_.emplace(peer, loose_steps(plan_, peer)).first->second;
    }

    [[noreturn]] void fail(Rank peer, const char* how) const {
        throw std::invalid_argument("ranks " + std::to_string(self_) + " and " + std::to_string(peer) + " of " +
                                    plan_.name() + " use a channel " + how);
    }

    const Plan& plan_;
    Rank self_;
    std::map<Rank, Steps> steps_;
};

}  // namespace

std::vector<toll_step> compile_steps(const Plan& plan, Rank self) {
    Steps steps = loose_steps(plan, self);
    OtherEnds others(plan, self);
    for (toll_step& step : steps) {
        if (step.to != TOLLBAR_NOBODY) step.to_step = others.find(step.to, &toll_step::from);
        if (step.from != TOLLBAR_NOBODY) step.from_step = others.find(step.from, &toll_step::to);
    }
    return steps;
}

}  // namespace tollbar
