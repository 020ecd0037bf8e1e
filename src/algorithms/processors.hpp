// SPDX-License-Identifier: Apache-2.0
// Plans whose roles stand for processors, and the number of processors that a spelling leaves to the machine.
#pragma once

#include <tollbar/plan.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace tollbar::detail {

/// Whether the player of a role may spin, because all other ranks of its processor wait for it.
constexpr bool roles_are_processors(std::string_view spelling) {
    return spelling.substr(0, spelling.find(':')) == "combination";
}

/// The spelling with the number of processors in it, where it may have one and has none: as many as `cpus`, at most one
/// a rank.
inline std::string on_processors(std::string_view spelling, Rank ranks, Rank cpus) {
    std::string complete(spelling);
    if (roles_are_processors(spelling) && spelling.find(':') == std::string_view::npos)
        complete += ':' + std::to_string(std::clamp<Rank>(cpus, 1, std::max<Rank>(ranks, 1)));
    return complete;
}

}  // namespace tollbar::detail
