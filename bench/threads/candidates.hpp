// SPDX-License-Identifier: Apache-2.0
// The barriers that can be measured between threads; each kind in a file of its own.
#pragma once

#include "launch.hpp"

namespace tollbar::bench {

/// A file that says that a library is missing takes the place of its own in the build.
void add_tollbar(Roster& roster, Rank ranks);  ///< all of it: every plan, and what is no plan
void add_standard_peers(Roster& roster, Rank ranks);
void add_beside_neighbours(Roster& roster, const Launch& launch);  ///< what --turns is for: how everybody waits
void add_boost(Roster& roster, Rank ranks);
void add_concurrency_kit(Roster& roster, Rank ranks);
void add_loaded(Roster& roster, Rank ranks);  ///< "loaded": of a preloaded library that offers it (tollbar/toll.h)

/// One catalogue plan. Throws std::invalid_argument when it cannot be spelled so or not for that many ranks.
void add_plan(Roster& roster, Rank ranks, const std::string& spelling, const std::string& wait);

/// "pthread_door": the preload for pthread_barrier_wait; false where it is not built.
bool add_door(Roster& roster, Rank ranks);

/// Candidates of tollbar-bench-threads alone.
using FurtherBarriers = Further<void (*)(Roster& roster, const Launch& launch)>;

/// Any plan for that many ranks, for --only, and "pthread_door".
Add plans_for(Rank ranks);

}  // namespace tollbar::bench
