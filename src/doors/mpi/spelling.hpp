// SPDX-License-Identifier: Apache-2.0
// What may be asked for by name in a communicator: the catalogue, and "turnstile", where the ranks of a node meet at a
// word.
#pragma once

#include "participant.h"

#include <tollbar/plan.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace tollbar::mpi {

/// What this rank was told to run: options.plan, the plan that options.selection names, else TOLLBAR_PLAN; else "".
std::string asked_plan(const tollbar_mpi_options& options);

/// Why so many ranks on so many nodes cannot run it, in one clause that names what is accepted; "" when they can.
std::string fault_of_spelling(std::string_view spelling, Rank ranks, Rank nodes);

/// OUTER of "turnstile/OUTER" (dissemination for plain "turnstile"); nothing for other spellings.
std::optional<std::string> outer_of(std::string_view spelling);

}  // namespace tollbar::mpi
