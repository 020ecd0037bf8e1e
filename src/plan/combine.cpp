// SPDX-License-Identifier: Apache-2.0
// Two plans make one: groups gather, their first ranks run the outer plan, groups release.
#include "combine.hpp"

#include "ranks.hpp"

#include <algorithm>
#include <stdexcept>

namespace tollbar {

namespace {

/// Where gather and release meet in a rooted word: the first signal of rank 0, behind the one signal and
/// the one await in the middle of every other word. program.size() + 1 when the word has not that form.
struct Halves {
    bool well_formed = false;
    std::size_t gather_end = 0;     ///< awaits of the gather children stand before
    std::size_t release_begin = 0;  ///< signals to the release children stand from here
};

Halves halves_of(Rank self, const Program& program) {
    Halves halves;
    const auto first_signal = std::ranges::find_if(program, is_signal);
    halves.gather_end = static_cast<std::size_t>(first_signal - program.begin());
    halves.release_begin = halves.gather_end + (self == 0 ? 0 : 2);
    if (halves.release_begin > program.size()) return halves;
    if (self != 0 && !is_await(program[halves.gather_end + 1])) return halves;
    halves.well_formed = std::all_of(program.begin() + static_cast<std::ptrdiff_t>(halves.release_begin), program.end(),
                                     is_signal);
    return halves;
}

/// Whether following parents leads every rank to 0.
bool leads_to_root(const std::vector<Rank>& parents) {
    std::vector<bool> rooted(parents.size());
    rooted[0] = true;
    std::vector<Rank> path;
    for (Rank rank = 0; rank < parents.size(); ++rank) {
        for (path.clear(); !rooted[rank] && path.size() <= parents.size(); rank = parents[rank]) path.push_back(rank);
        if (path.size() > parents.size()) return false;
        for (const Rank passed : path) rooted[passed] = true;
        if (!path.empty()) rank = path.front();
    }
    return true;
}

}  // namespace

bool is_rooted(const Plan& plan) {
    const Rank ranks = plan.ranks();
    std::vector<Rank> gather_parent(ranks, 0), release_parent(ranks, 0);
    std::vector<Rank> gathered(ranks, 0), released(ranks, 0);  // how often a rank is some other's child
    std::vector<Program> programs(ranks);
    for (Rank self = 0; self < ranks; ++self) {
        programs[self] = plan.program(self);
        const Halves halves = halves_of(self, programs[self]);
        if (!halves.well_formed) return false;
        if (self != 0) {
            gather_parent[self] = programs[self][halves.gather_end].peer;
            release_parent[self] = programs[self][halves.gather_end + 1].peer;
            if (gather_parent[self] >= ranks || release_parent[self] >= ranks) return false;
        }
    }
    for (Rank self = 0; self < ranks; ++self) {
        const Halves halves = halves_of(self, programs[self]);
        for (std::size_t i = 0; i < programs[self].size(); ++i) {
            const Rank child = programs[self][i].peer;
            if (child >= ranks) return false;
            if (child == 0 && (i < halves.gather_end || i >= halves.release_begin)) return false;
            if (i < halves.gather_end && (gather_parent[child] != self || gathered[child]++ != 0)) return false;
            if (i >= halves.release_begin && (release_parent[child] != self || released[child]++ != 0)) return false;
        }
    }
    const auto once = [](Rank times) { return times == 1; };
    return std::all_of(gathered.begin() + 1, gathered.end(), once) &&
           std::all_of(released.begin() + 1, released.end(), once) && leads_to_root(gather_parent) &&
           leads_to_root(release_parent);
}

namespace {

/// The groups of a two-level plan: all are alike but the last, which may be smaller.
struct Groups {
    Rank number;
    Plan full;
    Plan last;
};

Plan group_plan(const Family& inner, Rank members) {
    Plan plan = inner(members);
    if (plan.ranks() != members)
        throw std::invalid_argument("a group of " + std::to_string(members) + " ranks was given '" + plan.name() +
                                    "' for " + std::to_string(plan.ranks()) + " ranks");
    return plan;
}

Groups groups_of(Rank ranks, const Family& inner, Rank group, const Plan& outer) {
    check_ranks(ranks);
    if (group == 0) throw std::invalid_argument("a group has at least 1 rank, not 0");
    const Rank number = (ranks - 1) / group + 1;
    if (outer.ranks() != number)
        throw std::invalid_argument(std::to_string(ranks) + " ranks in groups of " + std::to_string(group) +
                                    " need an outer plan of " + std::to_string(number) + " ranks, not " +
                                    std::to_string(outer.ranks()));
    return {number, group_plan(inner, std::min(group, ranks)), group_plan(inner, ranks - (number - 1) * group)};
}

Plan join(Rank ranks, const Groups& groups, Rank group, const Plan& outer) {
    std::string name = groups.full.name() + '@' + std::to_string(group) + '/' + outer.name();
    return {std::move(name), ranks, [groups, group, outer](Rank self) {
                const Rank number = self / group;
                const Rank first = number * group;
                Program program = (number + 1 == groups.number ? groups.last : groups.full).program(self - first);
                for (Step& step : program) step.peer += first;
                if (self == first) {
                    Program among_leaders = outer.program(number);
                    for (Step& step : among_leaders) step.peer *= group;
                    program.insert(std::ranges::find_if(program, is_signal), among_leaders.begin(),
                                   among_leaders.end());
                }
                return program;
            }};
}

}  // namespace

Plan combine(Rank ranks, const Family& inner, Rank group, const Plan& outer) {
    const Groups groups = groups_of(ranks, inner, group, outer);
    for (const Plan& plan : {groups.full, groups.last})
        if (!is_rooted(plan))
            throw std::invalid_argument("'" + plan.name() + "' cannot stand inside a group of " +
                                        std::to_string(plan.ranks()) +
                                        ": its rank 0 does not gather everybody before it releases anybody");
    return join(ranks, groups, group, outer);
}

Plan combine_rooted(Rank ranks, const Family& inner, Rank group, const Plan& outer) {
    return join(ranks, groups_of(ranks, inner, group, outer), group, outer);
}

}  // namespace tollbar
