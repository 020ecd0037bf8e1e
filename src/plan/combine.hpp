// SPDX-License-Identifier: Apache-2.0
// Two levels without looking at the inner plans, so that one rank's part stays O(log ranks).
#pragma once

#include <tollbar/plan.hpp>

namespace tollbar {

/// `combine` (plan.hpp) for families that are known to be rooted: reads no inner program before it is asked for.
Plan combine_rooted(Rank ranks, const Family& inner, Rank group, const Plan& outer);

}  // namespace tollbar
