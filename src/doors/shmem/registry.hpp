// SPDX-License-Identifier: Apache-2.0
// All barriers of this PE: a wait for one of them advances the others too, and a program that ends inside an episode is
// told.
#pragma once

#include <tollbar/shmem.h>

namespace tollbar::detail::shmem {

/// Until unregister_barrier() other barriers' calls advance this one, and with `engine` the OpenSHMEM's progress.
void register_barrier(tollbar_shmem_barrier& barrier);
void unregister_barrier(tollbar_shmem_barrier& barrier) noexcept;

/// Advances all open barriers that are in no call and whose PEs need each other after their posts.
void advance_others() noexcept;

}  // namespace tollbar::detail::shmem
