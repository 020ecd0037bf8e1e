// SPDX-License-Identifier: Apache-2.0
// Two levels over any grouping, without looking at the inner plans, so that one rank's part stays O(log ranks).
#pragma once

#include "grouping.hpp"

namespace tollbar {

/// `combine` (plan.hpp) for families that are known to turn at one member, which is role(0) where there is a role and
/// rank 0 where there is none: reads no inner program before it is asked for.
///
/// Roles are numbered group by group, those of `outer` last.
Plan combine_turning(std::string name, const Grouping& grouping, const Family& inner, const Plan& outer);

}  // namespace tollbar
