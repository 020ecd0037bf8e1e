// SPDX-License-Identifier: Apache-2.0
// What may be asked for by name in a communicator: the catalogue, "turnstile", where the ranks of a node meet at a
// word, and "card" for what the hosts' network cards do between the nodes.
#pragma once

#include "participant.h"

#include <tollbar/plan.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::mpi {

/// What this rank was told to run: options.plan, the plan that options.selection names, else TOLLBAR_PLAN; else "".
std::string asked_plan(const tollbar_mpi_options& options);

/// Why so many ranks on so many nodes cannot run it, in one clause that names what is accepted; "" when they can.
std::string fault_of_spelling(std::string_view spelling, Rank ranks, Rank nodes);

/// OUTER of "turnstile/OUTER" (dissemination for plain "turnstile"); nothing for other spellings. Of spellings without
/// "card".
std::optional<std::string> outer_of(std::string_view spelling);

/// A spelling whose part between the nodes is "card" or "card:SHAPE".
struct OnCards {
    std::string by_messages;  ///< the same without cards; for a shape that is no plan, one that has a plan there
    std::string shape;        ///< what the cards run: a plan of the catalogue, "gather" or "switch"
};
std::optional<OnCards> on_cards(std::string_view spelling);

/// The spelling without cards.
std::string by_messages(std::string_view spelling);

/// Moves what goes on between the nodes to their cards; "" where a spelling without "card" has no such part: of plans
/// over all ranks those have, whose groups are the nodes, which are as `node_of` each rank says.
std::string moved_to_cards(std::string_view spelling, const std::vector<Rank>& node_of);

/// Why the cards of so many nodes cannot run it, in one clause; "" when they can. Of spellings with "card".
std::string fault_of_cards(std::string_view spelling, const std::vector<Rank>& node_of);

}  // namespace tollbar::mpi
