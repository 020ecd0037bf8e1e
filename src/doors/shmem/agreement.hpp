// SPDX-License-Identifier: Apache-2.0
// The collective half of tollbar_shmem_barrier_create: all PEs check that the groups fit together, settle on a plan for
// each, and allocate memory for the largest.
#pragma once

#include "group.hpp"

#include "transports/shmem/signals.hpp"

#include <string>

namespace tollbar::shmem {

/// What a barrier is made of.
struct Agreement {
    Members members;
    const SignalKind* signals = nullptr;
    bool shared = false;  ///< each PE's memory lies in that of every other
    std::string spelling{};
    Block block{};
};

/// Collective over all PEs: those of this PE's group, their plan, and memory that is zero on all. `signals` null: those
/// that the options name. Throws a Refusal, on every PE alike.
Agreement agree(const tollbar_shmem_group* group, const tollbar_shmem_options& options, const SignalKind* signals);

}  // namespace tollbar::shmem
