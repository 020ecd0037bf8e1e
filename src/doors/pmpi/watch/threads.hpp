// SPDX-License-Identifier: Apache-2.0
// The seats of this process's threads.
#pragma once

#include "missing/seats.h"

namespace tollbar::detail::watch {

/// To be called once, before any thread calls tollbar_begin_anew(): threads have their seats in this row, and give them
/// back when they end. `several`: threads may make collective calls at once.
void begin_seats(tollbar_row& row, bool several) noexcept;

}  // namespace tollbar::detail::watch
