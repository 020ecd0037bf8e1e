// SPDX-License-Identifier: Apache-2.0
// The ranks that may be missing, seen from one rank or role: those of which it has no proof yet.
#pragma once

#include <tollbar/plan.hpp>

#include <cstddef>
#include <vector>

namespace tollbar::detail {

/// The ranks that need not have entered yet when `self`, a rank or a role, has finished the first `steps` steps of its
/// program, in ascending order. Empty once a rank `self` may leave. A rank that waits for a role knows of the role's
/// members only what it has heard before. Awaits of one set that were met out of order do not count.
/// Throws std::invalid_argument when self or steps are out of range.
std::vector<Rank> unheard(const Plan& plan, Rank self, std::size_t steps);

}  // namespace tollbar::detail
