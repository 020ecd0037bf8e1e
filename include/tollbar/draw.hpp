// SPDX-License-Identifier: Apache-2.0
// Pictures and exports of plans: SVG with one lane a rank, and GOAL for LogGOPSim.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/price.hpp>

#include <string>

namespace tollbar {

/// A self-contained SVG: one lane a rank, messages as arrows, time downwards as `price` gives it.
/// Readable in light and dark surroundings. Throws what `price` throws.
std::string draw_svg(const Plan& plan, const LogP& logp);

/// LogGOPSim's GOAL text: 1-byte sends and receives with one tag a step; a step requires all operations of
/// the step before it (a set of neighbouring awaits counts as one step).
std::string to_goal(const Plan& plan);

}  // namespace tollbar
