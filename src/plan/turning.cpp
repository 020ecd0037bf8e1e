// SPDX-License-Identifier: Apache-2.0
// Whether a plan gathers to one member and releases from it.
#include <tollbar/plan.hpp>

#include <algorithm>
#include <vector>

namespace tollbar {

namespace {

/// One half of a word: its peers in the gather tree or in the release tree, as numbers of Plan::index_of.
struct Half {
    std::vector<Rank> children;
    Rank parent = 0;
};

/// A word that awaits its gather children, signals and awaits its parents unless it turns, and signals its release
/// children.
struct Halves {
    Half gather, release;
    bool turns = true;
    bool fits = false;  ///< the word has that form
};

Halves halves_of(const Plan& plan, Rank index) {
    const Program program = plan.program(plan.member_at(index));
    const auto peer = [&](const Step& step) { return plan.index_of(step.peer); };
    Halves halves;
    auto next = program.begin();
    for (; next != program.end() && is_await(*next); ++next) halves.gather.children.push_back(peer(*next));
    if (program.end() - next >= 2 && is_await(next[1])) {
        halves.turns = false;
        halves.gather.parent = peer(*next++);
        halves.release.parent = peer(*next++);
    }
    for (; next != program.end() && is_signal(*next); ++next) halves.release.children.push_back(peer(*next));
    halves.fits = next == program.end();
    return halves;
}

/// Whether the halves are a tree that reaches every member once.
bool is_tree(const std::vector<Halves>& members, Rank root, Half Halves::*half) {
    std::vector<bool> reached(members.size());
    reached[root] = true;
    std::vector<Rank> path{root};
    for (std::size_t next = 0; next < path.size(); ++next)
        for (const Rank child : (members[path[next]].*half).children) {
            if (child >= members.size() || reached[child] || (members[child].*half).parent != path[next]) return false;
            reached[child] = true;
            path.push_back(child);
        }
    return path.size() == members.size();
}

}  // namespace

std::optional<Rank> turning_member(const Plan& plan) {
    std::vector<Halves> members;
    for (Rank index = 0; index < plan.members(); ++index) members.push_back(halves_of(plan, index));
    if (!std::ranges::all_of(members, &Halves::fits) || std::ranges::count(members, true, &Halves::turns) != 1)
        return std::nullopt;
    const auto root = static_cast<Rank>(std::ranges::find(members, true, &Halves::turns) - members.begin());
    if (root != 0 && root < plan.ranks()) return std::nullopt;
    if (!is_tree(members, root, &Halves::gather) || !is_tree(members, root, &Halves::release)) return std::nullopt;
    return plan.member_at(root);
}

bool is_rooted(const Plan& plan) { return turning_member(plan) == 0; }

}  // namespace tollbar
