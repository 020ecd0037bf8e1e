// SPDX-License-Identifier: Apache-2.0
// The collective half of tollbar_shmem_barrier_create: all PEs check that the groups fit together, settle on a plan for
// each, and allocate memory for the largest.
#pragma once

#include "group.hpp"

#include "runtime/error.hpp"
#include "transports/shmem/signals.hpp"

#include <string>

namespace tollbar::shmem {

/// What this PE brings.
struct Proposal {
    runtime::Refusal refusal;  ///< what was wrong with its own arguments; error 0 when nothing was
    Members members;
    const SignalKind* signals = nullptr;
    std::string plan;  ///< what its caller named; empty when the first PE of the group is to choose
    unsigned tag = 0;
};

struct Agreed {
    std::string plan;  ///< of this PE's group
    Block block;       ///< zero on all PEs
};

/// Collective over all PEs. Throws a Refusal, on every PE alike.
Agreed agree(const Proposal& proposal);

}  // namespace tollbar::shmem
