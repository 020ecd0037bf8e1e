// SPDX-License-Identifier: Apache-2.0
// All barriers of this PE that may have to pass signals on: a PE inside one of them goes on with the others.
#pragma once

#include <tollbar/shmem.h>

namespace tollbar::shmem {

/// From here on until forget() the barrier advances by other barriers' calls, and with `engine` by the OpenSHMEM's
/// progress.
void remember(tollbar_shmem_barrier& barrier);
void forget(tollbar_shmem_barrier& barrier) noexcept;

/// Advances all open barriers that nobody is inside.
void help_others() noexcept;

}  // namespace tollbar::shmem
