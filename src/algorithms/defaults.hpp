// SPDX-License-Identifier: Apache-2.0
// What runs where nobody names a plan and nothing was measured. Outside the catalogue and the tuner no other file
// spells an algorithm's name.
#pragma once

#include <string>
#include <string_view>

namespace tollbar::defaults {

inline constexpr std::string_view on_a_node = "turnstile";                 ///< among those who share memory
inline constexpr std::string_view among_many = "butterfly";                ///< between many clusters of cores
inline constexpr std::string_view over_nodes = "turnstile/dissemination";  ///< among ranks of several nodes
inline constexpr std::string_view by_messages = "dissemination";           ///< among hosts, and ranks that have not met
inline constexpr std::string_view on_cards = "pairwise";                   ///< among network cards
inline constexpr std::string_view with_outside = "pairwise";   ///< between two: a group, and what is outside
inline constexpr std::string_view at_one_counter = "counter";  ///< where the last has to tell all others

/// The ranks of each node at one counter, and between the nodes that plan on their cards.
inline std::string around_cards(std::string_view plan) { return std::string(on_a_node).append("/card:").append(plan); }

/// Those of each cluster of so many neighbours at a counter, whose last ones meet at another.
inline std::string at_counters_of(unsigned neighbours) {
    return std::string(on_a_node).append("@").append(std::to_string(neighbours)).append("/").append(on_a_node);
}

/// So many peers told in each round; all others at once for one less than there are ranks.
inline std::string in_ways(unsigned ways) { return std::string(by_messages).append(":").append(std::to_string(ways)); }

/// What costs least between so many who all have a core (docs/design/selection.md): up to `at_once` of them tell each
/// other, nine do in two rounds, and more exchange.
inline std::string exchange(unsigned ranks, unsigned at_once) {
    constexpr unsigned two_rounds_of_two_ways = 9;
    if (ranks <= at_once) return in_ways(ranks > 1 ? ranks - 1 : 1);
    return ranks <= two_rounds_of_two_ways ? in_ways(2) : std::string(among_many);
}

}  // namespace tollbar::defaults
