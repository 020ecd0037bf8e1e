// SPDX-License-Identifier: Apache-2.0
// The plans that every property of the catalogue is checked for.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

inline constexpr std::array one_level{
    "central",           "combining",
    "combining:2",       "combining:3",
    "combining:8",       "fway_tournament",
    "fway_tournament:2", "fway_tournament:3",
    "fway_tournament:8", "mcs",
    "mcs:2,2",           "mcs:3,4",
    "tournament",        "bst",
    "butterfly",         "pairwise",
    "dissemination",     "dissemination:2",
    "dissemination:3",   "dissemination:4",
    "dissemination:5",   "dissemination:6",
    "dissemination:7",
};

inline constexpr std::array two_level{
    "central@4/dissemination",
    "combining:3@5/butterfly",
    "fway_tournament@16/pairwise",
    "mcs@8/mcs",
    "tournament@2/bst",
    "bst@7/dissemination:3",
    "central@1/combining",
    "central@1000000/mcs",
    "central@2/tournament@3/dissemination",
    "mcs@4/bst@4/central@4/pairwise",
    "mcs@8/card",
    "card:bst@7/tournament",
};

inline constexpr std::array with_roles{
    "turnstile",
    "counter",
    "combination",
    "combination:1",
    "combination:3/mcs",
    "combination:8/turnstile",
    "combination:64/central@4/dissemination",
    "card:gather",
    "switch",
    "turnstile@4/dissemination",
    "turnstile@3/turnstile@3/turnstile",
    "turnstile@5/combination:2/bst",
    "central@4/card:gather",
    "counter@2/switch",
};

inline constexpr std::array every_plan = [] {
    std::array<const char*, one_level.size() + two_level.size() + with_roles.size()> all{};
    const auto behind_one = std::ranges::copy(one_level, all.begin()).out;
    const auto behind_two = std::ranges::copy(two_level, behind_one).out;
    std::ranges::copy(with_roles, behind_two);
    return all;
}();
