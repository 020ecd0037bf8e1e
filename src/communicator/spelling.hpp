// SPDX-License-Identifier: Apache-2.0
// What communicators add to the spellings of plans: what is asked for, what runs on the nodes' network cards, and what
// a plain "turnstile" is between nodes.
#pragma once

#include "participant.h"

#include <tollbar/algorithms.hpp>
#include <tollbar/plan.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::mpi {

/// What this rank was told to run: options.plan, the plan that options.selection names, else TOLLBAR_PLAN; else "".
std::string asked_plan(const tollbar_mpi_options& options);
bool plan_is_from_environment(const tollbar_mpi_options& options);

/// Between those nodes, each a list of ranks. "turnstile" on several of them is "turnstile/dissemination".
/// Throws std::invalid_argument as make_plan (algorithms.hpp).
Plan plan_of(std::string_view spelling, const Groups& nodes);

/// Whether it is INNER/OUTER, whose groups are the nodes.
bool is_of_nodes(std::string_view spelling);

/// Why the ranks of those nodes cannot run it, in one clause that names what is accepted; "" when they can.
std::string fault_of_spelling(std::string_view spelling, const Groups& nodes);

/// What the cards run, of a spelling whose part between the nodes is "card" or "card:SHAPE": a plan, "gather" or
/// "switch".
std::optional<std::string> on_cards(std::string_view spelling);

/// The spelling without cards: messages run their plan, or "pairwise" where it is one for cards alone.
std::string by_messages(std::string_view spelling);

/// Moves what goes on between the nodes to their cards; "" where a spelling without "card" has no such part: of plans
/// over all ranks those have, whose groups are the nodes, which are as `node_of` each rank says.
std::string moved_to_cards(std::string_view spelling, const std::vector<Rank>& node_of);

/// Why the cards of so many nodes cannot run it, in one clause; "" when they can. Of spellings with "card".
std::string fault_of_cards(std::string_view spelling, const std::vector<Rank>& node_of);

}  // namespace tollbar::mpi
