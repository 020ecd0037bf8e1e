// SPDX-License-Identifier: Apache-2.0
// Finds the other end of every channel, and folds the programs of roles into those of their members.
#include "schedule.hpp"

#include "wording.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace tollbar::detail {

using Kind = Operation::Kind;

/// The counter of a role is numbered like a channel from the role to itself, which no plan has.
std::uint64_t Operation::meeting_point() const noexcept {
    const auto channel = [](Rank sender, Rank receiver) { return std::uint64_t{sender} << 32 | receiver; };
    const bool is_release = kind == Kind::release || kind == Kind::released;
    return is_of_channel() ? channel(from, to) : channel(role, role) | std::uint64_t{is_release} << 63;
}

Lowering::Lowering(Plan plan, Player player, MayCount may_count)
    : plan_(std::move(plan)), player_(player), may_count_(std::move(may_count)) {}

void Lowering::check_peer(Rank self, Rank peer) const {
    if (peer != self && plan_.index_of(peer) < plan_.members()) return;
    throw std::invalid_argument(worded({"plan '", plan_.name(), "': ", named(self), " has a step to ", named(peer)}));
}

std::invalid_argument Lowering::nobody_plays(Rank role) const {
    return std::invalid_argument(worded({"plan '", plan_.name(), "': nobody plays ", named(role)}));
}

const Program& Lowering::program(Rank member) {
    const auto known = programs_.find(member);
    return known != programs_.end() ? known->second : programs_.emplace(member, plan_.program(member)).first->second;
}

const RoleParts& Lowering::parts(Rank role) {
    if (const auto known = parts_.find(role); known != parts_.end()) return known->second;
    for (const Step step : program(role)) check_peer(role, step.peer);
    const Programs programs{[this](Rank member) { return std::span(program(member)); }};
    const MayCount may_count = [this](Rank first, Rank member) {
        return !may_count_ || may_count_(first_player(first), first_player(member));
    };
    RoleParts parts = parts_of(role, programs, may_count);
    if (parts.members.empty()) throw nobody_plays(role);
    return parts_.emplace(role, std::move(parts)).first->second;
}

Rank Lowering::first_player(Rank member) {
    for (Rank looked = 0; is_role(member); ++looked) {
        if (looked == plan_.roles()) throw nobody_plays(member);
        member = members(member).front();
    }
    return member;
}

/// The position of the await of `from` in the program of `to`.
std::uint32_t Lowering::position(Rank from, Rank to) {
    const auto refuse = [this](const char* why) {
        return std::invalid_argument(worded({"plan '", plan_.name(), "' ", why}));
    };
    const Program& sender = program(from);
    const Program& receiver = program(to);
    const auto signals = std::ranges::count(sender, signal(to));
    const auto awaits = std::ranges::count(receiver, await(from));
    if (signals > 1 || awaits > 1) throw refuse("uses a channel twice");
    if (signals != 1 || awaits != 1) throw refuse("has a signal without await, or an await without signal");
    return static_cast<std::uint32_t>(std::ranges::find(receiver, await(from)) - receiver.begin());
}

void Lowering::lower(Rank self, const Program& own, std::vector<Operation>& operations) {
    for (std::size_t i = 0; i < own.size(); ++i) {
        const Rank peer = own[i].peer;
        check_peer(self, peer);
        const bool signals = is_signal(own[i]);
        if (!is_role(self)) done_ = static_cast<std::uint32_t>(i);
        if (signals && is_role(peer) && std::ranges::binary_search(parts(peer).sorted, self)) {
            ++i;  // the await of the role, which is right after
            if (!is_role(self)) ++done_;
            lower_role(self, peer, operations);
            continue;
        }
        const auto [from, to] = signals ? std::pair(self, peer) : std::pair(peer, self);
        const std::uint32_t at = position(from, to);
        const Program& receiver = program(to);
        operations.push_back(
            {.kind = signals ? Kind::signal : Kind::await,
             .from = from,
             .to = to,
             .peer = first_player(peer),
             .slot = static_cast<std::uint32_t>(std::count_if(receiver.begin(), receiver.begin() + at, is_await)),
             .position = at,
             .done = done_});
    }
}

void Lowering::lower_role(Rank self, Rank role, std::vector<Operation>& operations) {
    if (++depth_ > plan_.roles()) throw nobody_plays(role);  // roles that are members of each other
    const RoleParts& played = parts(role);
    const Rank player = first_player(role);
    const auto number = static_cast<std::uint32_t>(played.members.size());
    const auto add = [&](Kind kind, std::uint32_t share) {
        operations.push_back({.kind = kind, .from = self, .role = role, .peer = player, .share = share, .done = done_});
    };
    if (player_ == Player::first && number == 1) {
        lower(role, played.between, operations);
    } else if (played.between.empty()) {
        add(Kind::count, number);
        add(Kind::counted, number);
    } else if (player_ == Player::last) {
        const std::size_t met = operations.size();
        add(Kind::meet, number);
        lower(role, played.between, operations);
        add(Kind::release, 1);
        operations[met].skip = static_cast<std::uint32_t>(operations.size() - met - 1);
        add(Kind::released, 1);
    } else if (self != played.members.front()) {
        add(Kind::count, number - 1);
        add(Kind::released, 1);
    } else {
        add(Kind::counted, number - 1);
        lower(role, played.between, operations);
        add(Kind::release, 1);
    }
    --depth_;
}

std::vector<Operation> Lowering::operations(Rank self) {
    depth_ = 0;
    std::vector<Operation> operations;
    lower(self, program(self), operations);
    return operations;
}

Schedule Lowering::schedule(std::span<const Rank> ranks) {
    Schedule schedule;
    std::unordered_map<std::uint64_t, Index> cells;
    for (const Rank self : ranks) {
        for (Operation& operation : operations(self)) {
            operation.cell = cells.try_emplace(operation.meeting_point(), cells.size()).first->second;
            schedule.operations.push_back(operation);
        }
        schedule.first.push_back(static_cast<std::uint32_t>(schedule.operations.size()));
    }
    schedule.number_of_cells = static_cast<Index>(cells.size());
    return schedule;
}

Schedule lower(const Plan& plan, Player player) {
    std::vector<Rank> ranks(plan.ranks());
    std::iota(ranks.begin(), ranks.end(), Rank{0});
    return Lowering(plan, player).schedule(ranks);
}

Plan played_by_first(const Plan& plan) {
    if (plan.roles() == 0) return plan;
    Lowering lowering(plan, Player::first, [](Rank, Rank) { return false; });
    std::vector<Program> programs(plan.ranks());
    for (Rank self = 0; self < plan.ranks(); ++self)
        for (const Operation& operation : lowering.operations(self)) {
            if (operation.peer == self) continue;  // no rank signals itself
            programs[self].push_back(operation.kind == Kind::signal ? signal(operation.peer) : await(operation.peer));
        }
    return {plan.name(), std::move(programs)};
}

}  // namespace tollbar::detail
