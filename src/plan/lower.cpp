// SPDX-License-Identifier: Apache-2.0
// Finds the other end of every channel, and folds the words of roles into those of their members.
#include "lower.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace tollbar {

namespace {

using Kind = LoweredStep::Kind;

/// Whether a word tells `role` and awaits it right after.
bool meets_at(const Program& word, Rank role) {
    const auto told = std::ranges::find(word, signal(role));
    return told != word.end() && std::next(told) != word.end() && *std::next(told) == await(role);
}

std::vector<Rank> sorted_peers(const Program& program) {
    std::vector<Rank> peers;
    for (const Step step : program) peers.push_back(step.peer);
    std::ranges::sort(peers);
    return peers;
}

bool has(const std::vector<Rank>& sorted, Rank member) { return std::ranges::binary_search(sorted, member); }

}  // namespace

Lowering::Lowering(Plan plan, Player player, MayCount may_count)
    : plan_(std::move(plan)), player_(player), may_count_(std::move(may_count)) {}

void Lowering::check_peer(Rank self, Rank peer) const {
    if (peer != self && plan_.index_of(peer) < plan_.members()) return;
    throw std::invalid_argument("plan '" + plan_.name() + "': " + (is_role(self) ? "role " : "rank ") +
                                member_text(self) + " has a step to " + (is_role(peer) ? "role " : "rank ") +
                                member_text(peer));
}

std::invalid_argument Lowering::nobody_plays(Rank role) const {
    return std::invalid_argument("plan '" + plan_.name() + "': nobody plays role " + member_text(role));
}

const Program& Lowering::word(Rank member) {
    const auto known = words_.find(member);
    return known != words_.end() ? known->second : words_.emplace(member, plan_.program(member)).first->second;
}

bool Lowering::counts(const Part& part, Rank member) const {
    if (part.members.empty() || part.members.front() == member || !may_count_) return true;
    return may_count_(part.members.front(), member);
}

const Lowering::Part& Lowering::part(Rank role) {
    if (const auto known = parts_.find(role); known != parts_.end()) return known->second;
    const Program& own = word(role);
    const auto gathered_until = std::ranges::find_if(own, is_signal);
    const auto last_await = std::find_if(own.rbegin(), own.rend(), is_await).base();
    const auto released_from = std::max(gathered_until, last_await);
    const std::vector<Rank> gathered = sorted_peers({own.begin(), gathered_until});
    const std::vector<Rank> released = sorted_peers({released_from, own.end()});
    const bool has_ranks = !gathered.empty() && !is_role(gathered.front());

    Part part;
    for (auto step = own.begin(); step != own.end(); ++step) {
        check_peer(role, step->peer);
        const bool gathers = step < gathered_until;
        const bool of_member = (gathers || step >= released_from) && has(gathered, step->peer) &&
                               has(released, step->peer) && !(has_ranks && is_role(step->peer)) &&
                               meets_at(word(step->peer), role) && counts(part, step->peer);
        if (!of_member) part.between.push_back(*step);
        if (of_member && gathers) part.members.push_back(step->peer);
    }
    part.sorted = part.members;
    std::ranges::sort(part.sorted);
    if (part.members.empty()) throw nobody_plays(role);
    return parts_.emplace(role, std::move(part)).first->second;
}

const std::vector<Rank>& Lowering::members(Rank role) { return part(role).members; }

Rank Lowering::first_player(Rank member) {
    for (Rank looked = 0; is_role(member); ++looked) {
        if (looked == plan_.roles()) throw nobody_plays(member);
        member = members(member).front();
    }
    return member;
}

/// Which of the awaits of `to` hears `from`.
std::uint32_t Lowering::slot(Rank from, Rank to) {
    const auto refuse = [this](const char* why) { return std::invalid_argument("plan '" + plan_.name() + "' " + why); };
    const Program& sender = word(from);
    const Program& receiver = word(to);
    const auto told = std::ranges::count(sender, signal(to));
    const auto heard = std::ranges::count(receiver, await(from));
    if (told > 1 || heard > 1) throw refuse("uses a channel twice");
    if (told != 1 || heard != 1) throw refuse("has a signal without await, or an await without signal");
    return static_cast<std::uint32_t>(
        std::count_if(receiver.begin(), std::ranges::find(receiver, await(from)), is_await));
}

void Lowering::lower(Rank self, const Program& program, std::vector<LoweredStep>& steps) {
    for (std::size_t i = 0; i < program.size(); ++i) {
        const Rank peer = program[i].peer;
        check_peer(self, peer);
        const bool tells = is_signal(program[i]);
        if (!is_role(self)) done_ = static_cast<std::uint32_t>(i);
        if (tells && is_role(peer) && has(part(peer).sorted, self)) {
            ++i;  // the await of the role, which is right after
            if (!is_role(self)) ++done_;
            lower_role(self, peer, steps);
            continue;
        }
        const auto [from, to] = tells ? std::pair(self, peer) : std::pair(peer, self);
        steps.push_back({.kind = tells ? Kind::signal : Kind::await,
                         .from = from,
                         .to = to,
                         .slot = slot(from, to),
                         .done = done_});
    }
}

void Lowering::lower_role(Rank self, Rank role, std::vector<LoweredStep>& steps) {
    if (++depth_ > plan_.roles()) throw nobody_plays(role);  // roles that are members of each other
    const Part& played = part(role);
    const auto number = static_cast<std::uint32_t>(played.members.size());
    const auto add = [&](Kind kind, std::uint32_t share) {
        steps.push_back({.kind = kind, .from = self, .role = role, .share = share, .done = done_});
    };
    if (player_ == Player::first && number == 1) {
        lower(role, played.between, steps);
    } else if (played.between.empty()) {
        add(Kind::count, number);
        add(Kind::counted, number);
    } else if (player_ == Player::last) {
        const std::size_t met = steps.size();
        add(Kind::meet, number);
        lower(role, played.between, steps);
        add(Kind::release, 1);
        steps[met].skip = static_cast<std::uint32_t>(steps.size() - met - 1);
        add(Kind::released, 1);
    } else if (self != played.members.front()) {
        add(Kind::count, number - 1);
        add(Kind::released, 1);
    } else {
        add(Kind::counted, number - 1);
        lower(role, played.between, steps);
        add(Kind::release, 1);
    }
    --depth_;
}

std::vector<LoweredStep> Lowering::steps(Rank self) {
    depth_ = 0;
    std::vector<LoweredStep> steps;
    lower(self, word(self), steps);
    return steps;
}

Plan played_by_first(const Plan& plan) {
    if (plan.roles() == 0) return plan;
    Lowering lowering(plan, Player::first, [](Rank, Rank) { return false; });
    std::vector<Program> programs(plan.ranks());
    for (Rank self = 0; self < plan.ranks(); ++self)
        for (const LoweredStep& step : lowering.steps(self)) {
            const bool tells = step.kind == Kind::signal;
            const Rank peer = lowering.first_player(tells ? step.to : step.from);
            if (peer != self) programs[self].push_back(tells ? signal(peer) : await(peer));  // nobody tells itself
        }
    return {plan.name(), std::move(programs)};
}

}  // namespace tollbar
