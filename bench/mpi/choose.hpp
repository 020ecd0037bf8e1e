// SPDX-License-Identifier: Apache-2.0
// Has the library choose a plan for all ranks of the job, as it does for a communicator, but with more time.
#pragma once

#include "job.hpp"

namespace tollbar::bench {

/// Collective. One choice an objective, each after so many milliseconds of measuring; the library stores them where
/// TOLLBAR_TUNING says, and those that are stored there already stay. Rank 0 prints a record for each.
void choose_plans(const MpiJob& job, double budget_ms);

}  // namespace tollbar::bench
