// SPDX-License-Identifier: Apache-2.0
// What --measure round-trips measures instead of barriers: one message between two ranks, by the words of a node and by
// the messages of the MPI.
#pragma once

#include "candidates.hpp"
#include "job.hpp"
#include "options.hpp"

#include "visit.hpp"

#include <vector>

namespace tollbar::bench {

/// Prints floors and round trips for as many rounds as asked for. Throws WrongUse when there are not two ranks.
void measure_round_trips(const MpiJob& job, const PointToPoint& p2p, const Options& options,
                         const std::vector<int>& cpus, const Pace& pace);

}  // namespace tollbar::bench
