// SPDX-License-Identifier: Apache-2.0
// What is measured once a launch: setting communicators up, and a long wait for one rank.
#pragma once

#include "flags.hpp"
#include "process_crew.hpp"

namespace tollbar::bench {

/// Times duplicates of the world, from the first entry into MPI_Comm_dup to the last exit from the first barrier.
void measure_set_up(ProcessCrew& crew, const Pace& pace, std::uint64_t communicators);

/// Has the last rank come late to MPI_Barrier, once; counts what the others use meanwhile, and how soon all are out.
void measure_lateness(ProcessCrew& crew, const Pace& pace, std::uint64_t late_ms);

}  // namespace tollbar::bench
