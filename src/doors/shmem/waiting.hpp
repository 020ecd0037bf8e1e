// SPDX-License-Identifier: Apache-2.0
// How a PE waits: it looks, makes progress, helps its other barriers, gives way, and finds out what is wrong.
#pragma once

#include "barrier.hpp"

#include <tollbar/sync.hpp>

namespace tollbar::shmem {

/// One look at an open episode: true when it is over, or never will be (barrier.fault). Every so many looks it does
/// what else there is to do.
bool look(tollbar_shmem_barrier& barrier) noexcept;

/// Waits for the end of an open episode; false when the deadline passed first, and may then be called again.
bool finish(tollbar_shmem_barrier& barrier, Never) noexcept;
bool finish(tollbar_shmem_barrier& barrier, Deadline deadline) noexcept;

}  // namespace tollbar::shmem
