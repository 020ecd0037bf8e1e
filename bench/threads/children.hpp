// SPDX-License-Identifier: Apache-2.0
// The ranks of a measuring program as processes: forked for one job, gone after it.
#pragma once

#include "crew.hpp"

namespace tollbar::bench {

/// From now on SIGINT, SIGTERM and SIGHUP end run_in_processes() by an exception, so that what was made is removed.
void stop_politely();

/// Runs job(rank) in as many new processes, each in its place, and returns when all have ended. They die with the
/// caller. Throws std::runtime_error when one fails (the others are killed) or the caller is to stop.
/// The caller must have no other threads.
void run_in_processes(Rank ranks, const Places& places, const Job& job);

}  // namespace tollbar::bench
