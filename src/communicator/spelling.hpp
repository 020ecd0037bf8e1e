// SPDX-License-Identifier: Apache-2.0
// Communicators add to the spellings of plans: the plan that is asked for, the part that runs on the nodes' NICs, and
// the meaning of a plain "turnstile" between nodes.
#pragma once

#include "participant.h"

#include <tollbar/algorithms.hpp>
#include <tollbar/plan.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::detail::mpi {

/// The plan that was named for this rank: options.plan, else TOLLBAR_PLAN; else "".
std::string asked_plan(const tollbar_mpi_options& options);
bool plan_is_from_environment(const tollbar_mpi_options& options);

/// Between those nodes, each a list of ranks. "turnstile" on several of them is "turnstile/dissemination".
/// Throws std::invalid_argument as make_plan (algorithms.hpp).
Plan plan_of(std::string_view spelling, const Groups& nodes);

/// Whether it is INNER/OUTER, whose groups are the nodes.
bool is_of_nodes(std::string_view spelling);

/// Why the ranks of those nodes cannot run it, in one clause that names what is accepted; "" when they can.
std::string fault_of_spelling(std::string_view spelling, const Groups& nodes);

/// The shape that the NICs run where the part between the nodes is "card" or "card:SHAPE": a plan, "gather" or
/// "switch"; nothing for other spellings.
std::optional<std::string> nic_shape(std::string_view spelling);

/// The spelling without NICs: messages run their plan, or "pairwise" where it is one for NICs alone.
std::string by_messages(std::string_view spelling);

/// Moves the part between the nodes to their NICs; "" where a spelling without "card" has no such part. A plan over all
/// ranks has one if its groups are the nodes, which are as `node_of` each rank says.
std::string moved_to_nics(std::string_view spelling, const std::vector<Rank>& node_of);

/// Why the NICs of those nodes cannot run a spelling with "card", in one clause; "" when they can.
std::string fault_on_nics(std::string_view spelling, const std::vector<Rank>& node_of);

}  // namespace tollbar::detail::mpi
