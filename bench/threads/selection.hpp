// SPDX-License-Identifier: Apache-2.0
// --only: which candidates of a roster were asked for.
#pragma once

#include "candidate.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace tollbar::bench {

/// Adds the candidate of that name and waiting policy to the roster if there is such a thing; true when it did.
using Add = std::function<bool(Roster& roster, const std::string& name, const std::string& wait)>;

/// Keeps what `list` names, in the order of the roster: NAME keeps all its waiting policies, NAME+WAIT one. Names
/// may have commas in them (mcs:2,2): the longest known one counts. What the roster does not have is offered
/// to `add`. Throws WrongUse for a name nobody knows.
void select(Roster& roster, std::string_view list, const Add& add);

}  // namespace tollbar::bench
