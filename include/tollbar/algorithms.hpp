// SPDX-License-Identifier: Apache-2.0
// The catalogue: every barrier algorithm the literature names that is a plan, under one spelling that is
// the same in C++, C, Python, the command, the environment and the documentation.
#pragma once

#include <tollbar/plan.hpp>

#include <span>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace tollbar {

/// One family of barriers. Spelled `name` or `name:parameters`, such as "mcs", "mcs:4,2", "dissemination:3".
struct Algorithm {
    std::string_view name;          ///< in front of the colon
    std::string_view parameters;    ///< what may follow the colon, such as "N"; empty when nothing may
    std::string_view defaults;      ///< the value when nothing follows, such as "4"
    std::string_view restrictions;  ///< accepted values, in words; empty when all are
    std::string_view paper;         ///< author and year of the first description
    bool inner;                     ///< may stand in front of '@' or '/' in a two-level plan
    std::string_view player = {};   ///< the player of the roles; empty for plans that have none
    std::string_view runs_on = {};  ///< the one kind of hardware or library it is for; empty when it runs everywhere

    /// Whether its plans have roles, and whether they run on any hardware.
    bool has_roles() const noexcept { return !player.empty(); }
    bool runs_everywhere() const noexcept { return runs_on.empty(); }
};

/// All families, in the order of the documentation. New ones come last: numbers of the catalogue are kept.
std::span<const Algorithm> catalogue() noexcept;

/// The one kind of hardware or library that some part of a spelling's plan is for; empty when there is none. Meant for
/// spellings that make_plan accepts.
std::string_view runs_on(std::string_view spelling) noexcept;

/// The plan with that spelling: `name[:parameters]`, or two levels `INNER@K/OUTER` (groups of K neighbouring
/// ranks run INNER, and its turning member runs OUTER in between, which may itself have two levels).
///
/// A rank's program costs O(log ranks) time and memory (O(ranks) for the root of `central` and for the role of a
/// counter, O(n log ranks) for the leaders of n-ary groups). Throws std::invalid_argument that says what was wrong and
/// what is accepted.
Plan make_plan(std::string_view spelling, Rank ranks);

/// Ranks that live in groups, such as the nodes of a cluster: lists of ranks in ascending order, in which every rank
/// from 0 on stands once.
using Groups = std::vector<std::vector<Rank>>;

/// The same, and `INNER/OUTER`: the groups run INNER, and its turning member in each runs OUTER in between. With one
/// group that is INNER.
///
///     tollbar::make_plan("turnstile/dissemination", {{0, 2, 4}, {1, 3, 5}});
///
/// Throws std::invalid_argument also for groups that are not such lists.
Plan make_plan(std::string_view spelling, const Groups& groups);

}  // namespace tollbar
#pragma GCC visibility pop
