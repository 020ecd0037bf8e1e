// SPDX-License-Identifier: Apache-2.0
// All barriers of this PE: a PE that waits in one of them goes on with the others that need it, and a program that ends
// inside one is told.
#pragma once

#include <tollbar/shmem.h>

namespace tollbar::shmem {

/// From here on until forget() the barrier advances by other barriers' calls, and with `engine` by the OpenSHMEM's
/// progress.
void remember(tollbar_shmem_barrier& barrier);
void forget(tollbar_shmem_barrier& barrier) noexcept;

/// Advances all open barriers that nobody is inside; `barrier` is the caller's.
void help_others(const tollbar_shmem_barrier& barrier) noexcept;

}  // namespace tollbar::shmem
