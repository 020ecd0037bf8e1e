// SPDX-License-Identifier: Apache-2.0
// The PEs that have not posted, and those that made another barrier of the same memory.
#pragma once

#include "barrier.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace tollbar::detail::shmem {

/// The PEs that have not posted in the open episode, as far as this PE can tell, in ascending order.
std::vector<tollbar_missing> missing_of(const tollbar_shmem_barrier& barrier);

/// "PE 3 (process 4711) has not arrived; nothing heard from PE 5".
std::string in_words(const std::vector<tollbar_missing>& missing);

/// One line on stderr from a PE that waits.
void report(const tollbar_shmem_barrier& barrier, std::chrono::duration<double> waited);

/// Looks for impossible values in the slots and the peers' blocks; sets barrier.fault and its line.
void examine(tollbar_shmem_barrier& barrier) noexcept;

}  // namespace tollbar::detail::shmem
