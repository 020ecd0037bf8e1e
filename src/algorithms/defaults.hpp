// SPDX-License-Identifier: Apache-2.0
// The plans that run by default, where no user names one and nothing was measured. Rooms that execute plans take names
// from here. Three kinds of rooms spell names themselves: the catalogue, which defines them; the tuner, which chooses
// between them; and analyses and models, whose papers give figures of single algorithms. A test keeps the list.
#pragma once

#include <string>
#include <string_view>

namespace tollbar::detail::defaults {

inline constexpr std::string_view on_a_node = "turnstile";                 ///< among ranks that share memory
inline constexpr std::string_view among_many = "butterfly";                ///< between many clusters of cores
inline constexpr std::string_view over_nodes = "turnstile/dissemination";  ///< among ranks of several nodes
inline constexpr std::string_view by_messages = "dissemination";           ///< among hosts, and ranks that have not met
inline constexpr std::string_view on_nics = "pairwise";                    ///< among NICs
inline constexpr std::string_view with_outside = "pairwise";   ///< between two: a group, and what is outside
inline constexpr std::string_view at_one_counter = "counter";  ///< where the last arrival signals all others

/// The ranks of each node at one counter, and between the nodes that plan on their NICs.
inline std::string around_nics(std::string_view plan) { return std::string(on_a_node).append("/card:").append(plan); }

/// Two levels: each group of `neighbours` ranks counts at its own counter, and each group's last arrival at a common
/// one.
inline std::string at_counters_of(unsigned neighbours) {
    return std::string(on_a_node).append("@").append(std::to_string(neighbours)).append("/").append(on_a_node);
}

/// Dissemination that signals `ways` peers in each round; with one way fewer than ranks, all others at once.
inline std::string in_ways(unsigned ways) { return std::string(by_messages).append(":").append(std::to_string(ways)); }

/// The cheapest plan for `ranks` ranks with a core each (docs/design/selection.md): all-to-all up to `at_once`, two
/// rounds up to nine, butterfly above.
inline std::string exchange(unsigned ranks, unsigned at_once) {
    constexpr unsigned two_rounds_of_two_ways = 9;
    if (ranks <= at_once) return in_ways(ranks > 1 ? ranks - 1 : 1);
    return ranks <= two_rounds_of_two_ways ? in_ways(2) : std::string(among_many);
}

}  // namespace tollbar::detail::defaults
