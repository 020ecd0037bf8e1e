// SPDX-License-Identifier: Apache-2.0
// The accounts of all ranks come to rank 0, which tells them.
#pragma once

#include "watch.hpp"

namespace tollbar::detail::watch {

/// Once, when MPI_Init is over, on each rank that wants accounts, also without a row: whether all ranks give theirs.
/// The same answer on each; none sends a message that another one might not wait for.
bool begin_to_gather(const OwnRow& place) noexcept;

/// Before MPI_Finalize: gathers them if all give theirs. One that finds no memory is left out.
void gather_accounts() noexcept;

}  // namespace tollbar::detail::watch
