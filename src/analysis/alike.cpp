// SPDX-License-Identifier: Apache-2.0
// Compares every program with that of rank 0, then joins the signal to the rank at a distance with the await of the
// rank from which this one is at that distance.
#include "alike.hpp"

#include <algorithm>
#include <bit>

namespace tollbar::detail {

namespace {

/// One meaning of "as far": the peer that is to `self` what `peer` is to 0.
using Distance = Rank (*)(Rank self, Rank peer, Rank ranks);

Rank round_the_ring(Rank self, Rank peer, Rank ranks) {
    return static_cast<Rank>((std::uint64_t{peer} + self) % ranks);
}

/// The distance of hypercubes, for 2^n ranks.
Rank bits_changed(Rank self, Rank peer, Rank) { return peer ^ self; }

bool all_alike(const Plan& plan, const Program& first, Distance distance) {
    for (Rank self = 1; self < plan.ranks(); ++self) {
        const auto same = [&](Step mine, Step of_first) {
            return mine.kind == of_first.kind && mine.peer == distance(self, of_first.peer, plan.ranks());
        };
        if (!std::ranges::equal(plan.program(self), first, same)) return false;
    }
    return true;
}

std::optional<Matching> match_first(const Program& program, Rank ranks, Distance distance) {
    const auto size = static_cast<Index>(program.size());
    Matching matching;
    matching.ranks = matching.members = 1;
    matching.first = {0, size};
    matching.steps = program;
    matching.message.resize(size);
    matching.messages = size / 2;
    Index numbered = 0;
    for (const Step step : program) {
        if (!is_signal(step)) continue;
        const auto meets = [&](Step other) { return is_await(other) && distance(other.peer, step.peer, ranks) == 0; };
        if (std::ranges::count(program, step) != 1 || std::ranges::count_if(program, meets) != 1) return std::nullopt;
        matching.message[static_cast<Index>(std::ranges::find(program, step) - program.begin())] = numbered;
        matching.message[static_cast<Index>(std::ranges::find_if(program, meets) - program.begin())] = numbered++;
    }
    if (2 * numbered != size) return std::nullopt;
    for (Step& step : matching.steps) step.peer = 0;
    return matching;
}

}  // namespace

std::optional<Matching> match_one_for_all(const Plan& plan) {
    if (plan.roles() != 0) return std::nullopt;
    const Rank ranks = plan.ranks();
    const Program program = plan.program(0);
    const auto is_wrong = [&](Step step) { return step.peer == 0 || step.peer >= ranks; };
    if (std::ranges::any_of(program, is_wrong)) return std::nullopt;
    if (all_alike(plan, program, round_the_ring)) return match_first(program, ranks, round_the_ring);
    if (std::has_single_bit(ranks) && all_alike(plan, program, bits_changed))
        return match_first(program, ranks, bits_changed);
    return std::nullopt;
}

}  // namespace tollbar::detail
