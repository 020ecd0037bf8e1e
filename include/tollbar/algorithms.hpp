// SPDX-License-Identifier: Apache-2.0
// The catalogue: every barrier algorithm the literature names that is a plan, under one spelling that is
// the same in C++, C, Python, the command, the environment and the documentation.
#pragma once

#include <tollbar/plan.hpp>

#include <span>
#include <string_view>

namespace tollbar {

/// One family of barriers. Spelled `name` or `name:parameters`, such as "mcs", "mcs:4,2", "dissemination:3".
struct Algorithm {
    std::string_view name;
    std::string_view parameters;    ///< what may follow the colon, such as "N"; empty when nothing may
    std::string_view defaults;      ///< what is taken when nothing follows, such as "4"
    std::string_view restrictions;  ///< accepted values, in words; empty when there is nothing to say
    std::string_view paper;         ///< author and year of the first description
    bool rooted;                    ///< may stand in front of '@' in a two-level plan
};

/// All families, in the order of the documentation.
std::span<const Algorithm> catalogue() noexcept;

/// The plan with that spelling: `name[:parameters]`, or two levels `INNER@K/OUTER` (groups of K neighbouring
/// ranks run INNER, their first ranks run OUTER, which may itself have two levels).
///
/// A rank's program costs O(log ranks) time and memory (O(ranks) for the root of `central`, O(n log ranks)
/// for the leaders of n-ary groups). Throws std::invalid_argument that says what was wrong and what is accepted.
Plan make_plan(std::string_view spelling, Rank ranks);

}  // namespace tollbar
