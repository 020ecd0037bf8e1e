// SPDX-License-Identifier: Apache-2.0
// What a barrier runs: the caller's plan, the environment's, or one for the number of PEs.
#pragma once

#include "transports/shmem/course.hpp"

#include <tollbar/shmem.h>

#include <optional>
#include <string>

namespace tollbar::shmem {

/// The plan that is none of the catalogue's: its roles depend on who comes last.
inline constexpr std::string_view counter = "counter";

struct Spelling {
    std::string plan;
    bool explicitly;  ///< the caller named it in this call
};

/// Throws std::invalid_argument or a Refusal (EINVAL) when the caller's plan is none for that many PEs, or can not be
/// signalled that way. A wrong TOLLBAR_PLAN is reported once a process and then ignored.
Spelling choose_plan(const tollbar_shmem_options& options, Rank pes, bool crowded);

/// Throws a Refusal (EINVAL).
Signals signals_of(const tollbar_shmem_options& options);

/// Nothing for the counter. The spelling has no fault.
std::optional<Plan> plan_of(const std::string& spelling, Rank pes);

/// How many slots a PE needs.
std::uint32_t slots_needed(const std::string& spelling, Rank pes);

/// Whether the PEs that share this one's memory are more than its CPUs. Where no memory is shared all are taken to be
/// here: to give way needlessly costs less than to spin in another's way. `symmetric` is any symmetric address.
bool crowded_here(const void* symmetric);

}  // namespace tollbar::shmem
