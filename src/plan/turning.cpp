// SPDX-License-Identifier: Apache-2.0
// Whether a plan gathers to one member and releases from it.
#include <tollbar/plan.hpp>

#include <algorithm>
#include <vector>

namespace tollbar {

namespace {

/// Where gather and release meet in a word: before the first signal at the turning member, around the one signal and
/// the one await in the middle of every other word.
struct Halves {
    bool turns = false;             ///< awaits, then signals
    bool passes = false;            ///< awaits, one signal, one await, signals
    std::size_t gather_end = 0;     ///< awaits of the gather children stand before
    std::size_t release_begin = 0;  ///< signals to the release children stand from here
};

Halves halves_of(const Program& program) {
    Halves halves;
    const auto first_signal = std::ranges::find_if(program, is_signal);
    halves.gather_end = static_cast<std::size_t>(first_signal - program.begin());
    const auto only_signals = [&](std::size_t from) {
        return std::all_of(program.begin() + static_cast<std::ptrdiff_t>(from), program.end(), is_signal);
    };
    halves.turns = only_signals(halves.gather_end);
    halves.passes = halves.gather_end + 2 <= program.size() && is_await(program[halves.gather_end + 1]) &&
                    only_signals(halves.gather_end + 2);
    halves.release_begin = halves.gather_end + (halves.turns ? 0 : 2);
    return halves;
}

/// The members of a plan, numbered from 0, with their place in both trees.
struct Trees {
    std::vector<Program> programs;
    std::vector<Halves> halves;
    std::vector<Rank> gather_parent, release_parent;

    explicit Trees(const Plan& plan) : gather_parent(plan.members()), release_parent(plan.members()) {
        for (Rank index = 0; index < plan.members(); ++index) {
            programs.push_back(plan.program(plan.member_at(index)));
            for (Step& step : programs.back()) step.peer = plan.index_of(step.peer);
            halves.push_back(halves_of(programs.back()));
        }
    }

    Rank size() const noexcept { return static_cast<Rank>(programs.size()); }

    /// Finds the parents; false when a word does not pass news on between them, or names nobody.
    bool find_parents(Rank root) {
        for (Rank self = 0; self < size(); ++self) {
            if (self == root) continue;
            if (!halves[self].passes) return false;
            gather_parent[self] = programs[self][halves[self].gather_end].peer;
            release_parent[self] = programs[self][halves[self].gather_end + 1].peer;
            if (gather_parent[self] >= size() || release_parent[self] >= size()) return false;
        }
        return true;
    }

    /// Whether the tree reaches every member once; the children of each are those it has a step to in its half.
    bool reaches_all(Rank root, const std::vector<Rank>& parents, bool gathers) const {
        std::vector<bool> reached(size());
        reached[root] = true;
        std::vector<Rank> path{root};
        for (std::size_t next = 0; next < path.size(); ++next) {
            const Rank self = path[next];
            const std::size_t begin = gathers ? 0 : halves[self].release_begin;
            const std::size_t end = gathers ? halves[self].gather_end : programs[self].size();
            for (std::size_t i = begin; i < end; ++i) {
                const Rank child = programs[self][i].peer;
                if (child >= size() || reached[child] || parents[child] != self) return false;
                reached[child] = true;
                path.push_back(child);
            }
        }
        return path.size() == size();
    }
};

}  // namespace

std::optional<Rank> turning_member(const Plan& plan) {
    Trees trees(plan);
    if (std::ranges::count(trees.halves, true, &Halves::turns) != 1) return std::nullopt;
    const auto root = static_cast<Rank>(std::ranges::find(trees.halves, true, &Halves::turns) - trees.halves.begin());
    if (root != 0 && root < plan.ranks()) return std::nullopt;
    if (!trees.find_parents(root) || !trees.reaches_all(root, trees.gather_parent, true) ||
        !trees.reaches_all(root, trees.release_parent, false))
        return std::nullopt;
    return plan.member_at(root);
}

bool is_rooted(const Plan& plan) { return turning_member(plan) == 0; }

}  // namespace tollbar
