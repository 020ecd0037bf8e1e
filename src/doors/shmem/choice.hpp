// SPDX-License-Identifier: Apache-2.0
// The plan of a barrier: the caller's, the environment's, or one for the number of PEs.
#pragma once

#include "transports/shmem/transport.hpp"

#include <tollbar/plan.hpp>
#include <tollbar/shmem.h>

#include <string>
#include <vector>

namespace tollbar::detail::shmem {

/// The caller's plan; "" when it names none. Throws std::invalid_argument when it is none for that many PEs.
std::string named_plan(const tollbar_shmem_options& options, Rank pes);

/// Whether shmem_ptr gives this PE the memory of all of them. `symmetric` is any symmetric address.
bool shares_memory(const std::vector<int>& pes, const void* symmetric);

/// TOLLBAR_PLAN, else one for the number of PEs, which share memory or not. A wrong TOLLBAR_PLAN is reported once a
/// process and then ignored.
std::string default_plan(Signals signals, bool shared, Rank pes, bool crowded);

/// Throws a Refusal (ENOTSUP) where the options want an engine and there is none.
void demand_engine(const tollbar_shmem_options& options);

/// The signals that the options name or, with TOLLBAR_SHMEM_AUTO, that suit PEs which share their memory or not. Throws
/// std::invalid_argument.
Signals signals_of(const tollbar_shmem_options& options, bool shared);

/// How many slots a PE needs. The spelling has no fault.
std::uint32_t slots_needed(const std::string& spelling, Rank pes);

/// Whether the PEs that share this one's memory are more than its CPUs. All PEs are taken to be here where no memory is
/// shared: to give way needlessly costs less than to spin in another's way. `symmetric` is any symmetric address.
bool crowded_here(const void* symmetric);

}  // namespace tollbar::detail::shmem
