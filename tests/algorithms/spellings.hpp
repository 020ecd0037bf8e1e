// SPDX-License-Identifier: Apache-2.0
// The plans that every property of the catalogue is checked for.
#pragma once

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
};
