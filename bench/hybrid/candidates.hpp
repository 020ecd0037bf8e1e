// SPDX-License-Identifier: Apache-2.0
// What is measured between the threads of ranks: combined barriers of tollbar's, and what users write themselves.
#pragma once

#include "candidate.hpp"
#include "job.hpp"

#include <string>

namespace tollbar::bench {

/// Every inner with every outer plan, and the peers.
Roster hybrid_roster(const MpiJob& job, Rank threads);

/// Adds "INNER/OUTER"; false when it cannot be spelled so.
bool add_combined(Roster& roster, const MpiJob& job, Rank threads, const std::string& name, const std::string& wait);

}  // namespace tollbar::bench
