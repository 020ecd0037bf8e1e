// SPDX-License-Identifier: Apache-2.0
// Numbers words and sleepers in the order in which steps first need them.
#include "layout.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace tollbar {

namespace {

using Kind = LoweredStep::Kind;

std::uint64_t pair_of(Rank low, Rank high) { return std::uint64_t{low} << 32 | high; }

/// The lines of a role are keyed like channels from the role to itself, which no plan has.
std::uint64_t counter_of(Rank role) { return pair_of(role, role); }
std::uint64_t release_of(Rank role) { return pair_of(role, role) | std::uint64_t{1} << 63; }

bool is_channel(Kind kind) { return kind == Kind::signal || kind == Kind::await; }

WordKind word_kind(Kind kind) {
    switch (kind) {
        case Kind::signal:
        case Kind::release: return WordKind::signal;
        case Kind::await:
        case Kind::counted:
        case Kind::released: return WordKind::await;
        case Kind::count: return WordKind::count;
        case Kind::meet: return WordKind::meet;
    }
    return WordKind::await;
}

}  // namespace

std::uint32_t Layout::word_in(std::uint32_t line, std::uint32_t place) {
    if (line >= most_lines)
        throw std::invalid_argument("the plan has more than " + std::to_string(most_lines) +
                                    " channels between ranks that share memory");
    return line * words_a_line + place;
}

PlacedStep WordPlacement::place(const LoweredStep& step) {
    const bool for_a_role = is_role(step.from) || (is_channel(step.kind) && is_role(step.to));
    PlacedStep placed{.word = 0,
                      .sleepers = 0,
                      .share = step.share,
                      .skip = step.skip,
                      .kind = word_kind(step.kind),
                      .between_processors = roles_ == RolesAre::processors && for_a_role};
    if (is_channel(step.kind)) {
        const auto [low, high] = std::minmax(step.from, step.to);
        placed.word = Layout::word_in(number_of(pair_of(low, high), lines_), step.from < step.to ? 0 : 1);
        placed.sleepers = number_of(step.to, sleepers_);
        return placed;
    }
    const bool released = step.kind == Kind::release || step.kind == Kind::released;
    const std::uint64_t key = released ? release_of(step.role) : counter_of(step.role);
    placed.word = Layout::word_in(number_of(key, lines_), 0);
    placed.sleepers = number_of(key, sleepers_);
    return placed;
}

Layout lay_out(const Plan& plan, Player player, RolesAre roles) {
    Lowering lowering(plan, player);
    WordPlacement placement(roles);
    Layout layout{.lines = 0, .sleepers = 0, .first = {0}, .steps = {}};
    for (Rank self = 0; self < plan.ranks(); ++self) {
        for (const LoweredStep& step : lowering.steps(self)) layout.steps.push_back(placement.place(step));
        layout.first.push_back(static_cast<std::uint32_t>(layout.steps.size()));
    }
    layout.lines = placement.lines();
    layout.sleepers = placement.sleepers();
    return layout;
}

}  // namespace tollbar
