// SPDX-License-Identifier: Apache-2.0
// How many ranks a plan may have: asked wherever a number of ranks is taken in.
#pragma once

#include <tollbar/plan.hpp>

namespace tollbar {

/// Throws std::invalid_argument unless 1 <= ranks <= max_ranks.
void check_ranks(Rank ranks);

}  // namespace tollbar
