// SPDX-License-Identifier: Apache-2.0
// Plans in which one rank stands for all: every program is that of rank 0, with each peer as far from the rank.
#pragma once

#include "matching.hpp"

#include <optional>

namespace tollbar::detail {

/// The one rank of such a plan, which sends its messages to itself; nothing for all other plans, also where signals
/// and awaits do not meet. As far means the same distance round the ring of ranks, or the same bits of the number
/// changed. Ranks that enter together then do everything at the same time, so the evaluation of this rank
/// holds for each. Reads few programs of most other plans, and keeps no more than one.
std::optional<Matching> match_one_for_all(const Plan& plan);

}  // namespace tollbar::detail
