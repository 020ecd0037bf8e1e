// SPDX-License-Identifier: Apache-2.0
// Who has not posted, and who made another barrier of the same memory.
#pragma once

#include "barrier.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace tollbar::shmem {

/// The PEs that have not posted in the open episode, as far as this PE can tell, in ascending order.
std::vector<int> missing(const tollbar_shmem_barrier& barrier);

/// "PE 3 has not posted", "PE 3 (process 4711, dead) and PE 5 have not posted".
std::string missing_in_words(const tollbar_shmem_barrier& barrier, const std::vector<int>& pes);

/// One line on stderr from a PE that waits.
void report(const tollbar_shmem_barrier& barrier, std::chrono::duration<double> waited) noexcept;

/// Looks at the slots and at the peers' blocks for what can not be; sets barrier.fault and says what.
void examine(tollbar_shmem_barrier& barrier) noexcept;

}  // namespace tollbar::shmem
