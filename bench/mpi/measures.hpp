// SPDX-License-Identifier: Apache-2.0
// Measures of an MPI program besides loops of barriers.
#pragma once

#include "candidates.hpp"
#include "process_crew.hpp"

namespace tollbar::bench {

/// Times duplicates of the world, from the first entry into MPI_Comm_dup to the last exit from the first barrier.
void measure_set_up(ProcessCrew& crew, const Pace& pace, std::uint64_t communicators);

/// Has the last rank come late to MPI_Barrier, once; counts what the others use meanwhile, and how soon all are out.
void measure_lateness(ProcessCrew& crew, const Pace& pace, std::uint64_t late_ms);

/// Instead of barriers, one message between two ranks: by the words of a node, where they share one, and by the
/// messages of the MPI. Gives the exit status; throws WrongUse when there are not two ranks.
int measure_round_trips(const Launch& launch, const PointToPoint& p2p);

/// Has the library choose a plan for all ranks of the job, as it does for a communicator, but with more time: one
/// choice an objective, each after so many milliseconds of measuring. The library stores them where TOLLBAR_TUNING
/// says, and those that are stored there already stay. Collective; rank 0 prints a record for each.
void choose_plans(Rank ranks, const PointToPoint& p2p, double budget_ms);

}  // namespace tollbar::bench
