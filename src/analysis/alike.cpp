// SPDX-License-Identifier: Apache-2.0
// Compares every program with that of rank 0, then joins the signal to the rank at a distance with the await of the
// rank at the same distance on the other side.
#include "alike.hpp"

#include <algorithm>

namespace tollbar {

namespace {

bool all_alike(const Plan& plan, const Program& first) {
    const auto turned = [&](Rank self, Step step) {
        step.peer = static_cast<Rank>((std::uint64_t{step.peer} + self) % plan.ranks());
        return step;
    };
    for (Rank self = 1; self < plan.ranks(); ++self) {
        const auto same = [&](Step mine, Step of_first) { return mine == turned(self, of_first); };
        if (!std::ranges::equal(plan.program(self), first, same)) return false;
    }
    return true;
}

}  // namespace

std::optional<Wiring> wire_one_for_all(const Plan& plan) {
    const Rank ranks = plan.ranks();
    const Program program = plan.program(0);
    const auto is_wrong = [&](Step step) { return step.peer == 0 || step.peer >= ranks; };
    if (std::ranges::any_of(program, is_wrong) || !all_alike(plan, program)) return std::nullopt;

    const auto size = static_cast<Index>(program.size());
    Wiring wiring;
    wiring.ranks = 1;
    wiring.first = {0, size};
    wiring.steps = program;
    wiring.message.resize(size);
    wiring.messages = size / 2;
    Index numbered = 0;
    for (const Step step : program) {
        if (!is_signal(step)) continue;
        const Step partner = await(ranks - step.peer);
        if (std::ranges::count(program, step) != 1 || std::ranges::count(program, partner) != 1) return std::nullopt;
        wiring.message[static_cast<Index>(std::ranges::find(program, step) - program.begin())] = numbered;
        wiring.message[static_cast<Index>(std::ranges::find(program, partner) - program.begin())] = numbered++;
    }
    if (2 * numbered != size) return std::nullopt;
    for (Step& step : wiring.steps) step.peer = 0;
    return wiring;
}

}  // namespace tollbar
