// SPDX-License-Identifier: Apache-2.0
// What two files of a program call of each other: one is compiled with TOLLBAR_CHECKED, the other without.
#pragma once

#include <tollbar/barrier.hpp>
#include <tollbar/participant.hpp>

namespace with_checks {
void enter(tollbar::participant& self);
void leave(tollbar::participant& self);
void arrive(tollbar::barrier<>& barrier, std::ptrdiff_t times);
}  // namespace with_checks

namespace without_checks {
void enter(tollbar::participant& self);
void leave(tollbar::participant& self);
void arrive(tollbar::barrier<>& barrier, std::ptrdiff_t times);
}  // namespace without_checks
