// SPDX-License-Identifier: Apache-2.0
// Pictures and exports of plans: SVG with one lane a member, and GOAL for LogGOPSim.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/price.hpp>

#include <string>

namespace tollbar::detail {

/// A self-contained SVG: one lane a rank and one a role, which is dashed and bears the role's letter; messages as
/// arrows, time downwards as `price` gives it.
/// Readable in light and dark surroundings. Throws what `price` throws.
std::string draw_svg(const Plan& plan, const LogP& logp);

/// LogGOPSim's GOAL text: 1-byte sends and receives with one tag a step; a step requires all operations of
/// the step before it (a set of neighbouring awaits counts as one step). GOAL knows ranks only: roles are the ranks
/// after the plan's own, role(0) the first of them, and send one by one what they release together.
std::string to_goal(const Plan& plan);

}  // namespace tollbar::detail
