// SPDX-License-Identifier: Apache-2.0
#include "processors.hpp"

#include <algorithm>

namespace tollbar {

namespace {

constexpr std::string_view combination = "combination";

}  // namespace

bool roles_are_processors(std::string_view spelling) { return spelling.substr(0, spelling.find(':')) == combination; }

std::string on_processors(std::string_view spelling, Rank ranks, Rank cpus) {
    std::string placed(spelling);
    if (spelling == combination) placed += ':' + std::to_string(std::clamp<Rank>(cpus, 1, std::max<Rank>(ranks, 1)));
    return placed;
}

}  // namespace tollbar
