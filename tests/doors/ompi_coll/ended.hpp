// SPDX-License-Identifier: Apache-2.0
// Barriers of a queue that note when they end.
#pragma once

#include "doors/ompi_coll/pending.h"

#include <atomic>

namespace tollbar::testing {

inline std::atomic<int> ended = 0;  ///< how many

struct Barrier : tollbar_pending {
    int number = 0;  ///< which end it was, from 1
};

inline void end(tollbar_pending* pending) { static_cast<Barrier*>(pending)->number = ++ended; }

}  // namespace tollbar::testing
