// SPDX-License-Identifier: Apache-2.0
// Plans for where nobody but ranks can run anything, and no counter counts.
#pragma once

#include <tollbar/plan.hpp>

namespace tollbar {

/// The same barrier without roles: the first member of each plays it, hears the others one by one and tells them.
///
///     0: !a ?a    1: !a ?a    a: ?0 ?1 !0 !1        becomes        0: ?1 !1    1: !0 ?0
///
/// A plan without roles is given back as it is. Throws std::invalid_argument as Lowering::steps() does.
Plan played_by_first(const Plan& plan);

}  // namespace tollbar
