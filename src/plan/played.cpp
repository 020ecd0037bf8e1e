// SPDX-License-Identifier: Apache-2.0
#include "played.hpp"

#include "lower.hpp"

#include <utility>
#include <vector>

namespace tollbar {

namespace {

Program played(Lowering& lowering, Rank self) {
    using Kind = LoweredStep::Kind;
    Program program;
    const auto add = [&](Step step) {
        if (step.peer != self) program.push_back(step);  // nobody tells itself
    };
    const auto add_each = [&](const std::vector<Rank>& members, Step (*step)(Rank)) {
        for (const Rank member : members) add(step(lowering.first_player(member)));
    };
    for (const LoweredStep& step : lowering.steps(self)) {
        if (step.kind == Kind::signal) add(signal(lowering.first_player(step.to)));
        if (step.kind == Kind::await) add(await(lowering.first_player(step.from)));
        if (step.kind == Kind::signal || step.kind == Kind::await) continue;
        const std::vector<Rank>& members = lowering.members(step.role);
        const Rank player = lowering.first_player(step.role);
        const bool awaits = step.kind == Kind::counted || step.kind == Kind::released;
        const bool releases_too = step.kind == Kind::counted && step.share == members.size();
        if (player != self) {
            add(awaits ? await(player) : signal(player));
        } else {
            if (step.kind == Kind::counted) add_each(members, await);
            if (step.kind == Kind::release || releases_too) add_each(members, signal);
        }
    }
    return program;
}

}  // namespace

Plan played_by_first(const Plan& plan) {
    if (plan.roles() == 0) return plan;
    Lowering lowering(plan, Player::first);
    std::vector<Program> programs;
    for (Rank rank = 0; rank < plan.ranks(); ++rank) programs.push_back(played(lowering, rank));
    return {plan.name(), std::move(programs)};
}

}  // namespace tollbar
