// SPDX-License-Identifier: Apache-2.0
// What a barrier runs: the caller's plan, the environment's, or one for the number of PEs.
#pragma once

#include "transports/shmem/placement.hpp"
#include "transports/shmem/signaller.hpp"

#include <tollbar/plan.hpp>
#include <tollbar/shmem.h>

#include <string>

namespace tollbar::shmem {

struct Spelling {
    std::string plan;
    bool explicitly;  ///< the caller named it in this call
};

/// Throws a Refusal (EINVAL) when the caller's plan is none for that many PEs. A wrong TOLLBAR_PLAN is reported once a
/// process and then ignored.
Spelling choose_plan(const tollbar_shmem_options& options, const SignalKind& signals, Rank pes, bool crowded);

/// Throws a Refusal (EINVAL).
const SignalKind& signals_of(const tollbar_shmem_options& options);

/// How many slots a PE needs. The spelling has no fault.
std::uint32_t slots_needed(const std::string& spelling, Rank pes);

/// Whether the PEs that share this one's memory are more than its CPUs. Where no memory is shared all are taken to be
/// here: to give way needlessly costs less than to spin in another's way. `symmetric` is any symmetric address.
bool crowded_here(const void* symmetric);

}  // namespace tollbar::shmem
