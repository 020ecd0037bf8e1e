// SPDX-License-Identifier: Apache-2.0
// The collective half of tollbar_shmem_barrier_create: all PEs check that the groups fit together, settle on a plan for
// each, and allocate memory for the largest.
#pragma once

#include "group.hpp"

#include "transports/shmem/transport.hpp"

#include <string>

namespace tollbar::detail::shmem {

/// The parts of a barrier.
struct Agreement {
    Members members;
    Signals signals = Signals::puts;
    bool shared = false;  ///< each PE's memory lies in that of every other
    std::string spelling{};
    Block block{};
};

/// Collective over all PEs: the members of this PE's group, their signals and plan, and memory that is zero on all.
/// Throws a Refusal, on every PE alike.
Agreement agree(const tollbar_shmem_group* group, const tollbar_shmem_options& options);

}  // namespace tollbar::detail::shmem
