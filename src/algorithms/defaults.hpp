// SPDX-License-Identifier: Apache-2.0
// What runs where nobody names a plan and nothing was measured. Outside the catalogue and the tuner no other file
// spells an algorithm's name.
#pragma once

#include <string>
#include <string_view>

namespace tollbar::defaults {

inline constexpr std::string_view on_a_node = "turnstile";                 ///< among those who share memory
inline constexpr std::string_view over_nodes = "turnstile/dissemination";  ///< among ranks of several nodes
inline constexpr std::string_view by_messages = "dissemination";           ///< among hosts, and ranks that have not met
inline constexpr std::string_view on_cards = "pairwise";                   ///< among network cards
inline constexpr std::string_view with_outside = "pairwise";   ///< between two: a group, and what is outside
inline constexpr std::string_view at_one_counter = "counter";  ///< where the last has to tell all others

/// The ranks of each node at one counter, and between the nodes that plan on their cards.
inline std::string around_cards(std::string_view plan) { return std::string(on_a_node).append("/card:").append(plan); }

/// So many peers told in each round; all others at once for one less than there are ranks.
inline std::string in_ways(unsigned ways) { return std::string(by_messages).append(":").append(std::to_string(ways)); }

}  // namespace tollbar::defaults
