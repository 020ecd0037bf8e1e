// SPDX-License-Identifier: Apache-2.0
// The decision of rank 0 from the facts of all ranks: which ranks share a node and a piece of its memory, whether the
// nodes have NICs for barriers, and which plan is run.
#pragma once

#include "facts.hpp"
#include "participant.h"

#include "tuner/tuning.hpp"
#include "wire/siphash.h"

#include <tollbar/algorithms.hpp>
#include <tollbar/plan.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tollbar::detail::mpi {

/// With that much time, in milliseconds, every candidate is tried.
inline constexpr double thorough_from_ms = 200;

/// The part of a decision that is as long for every communicator. Plain memory, to be sent.
struct Terms {
    char plan[128];  ///< empty: to be chosen
    double budget_ms;
    double timeout_s;      ///< 0: never
    std::uint64_t ticket;  ///< of this communicator alone; see ticket_of()
    toll_key key;          ///< of groups on the nodes' NICs, if these are to be used
    tollbar_network network;
    Rank nodes;
    Rank per_node;  ///< ranks on the node that has most of them
    bool makes_arenas;
    bool crowded;  ///< some node has more ranks than CPUs

    /// Else the nodes meet by messages.
    bool has_nics() const noexcept { return key.low != 0; }
};

/// The same on every rank.
struct Decision : Terms {
    std::vector<Rank> node_of;            ///< of each rank
    std::vector<std::uint64_t> arena_of;  ///< of each node, the arena its ranks have in common; 0: none
    std::vector<std::uint32_t> nics;      ///< of each node, its NIC's address (IPv4, network byte order); or none

    /// The ranks of each node, ascending.
    Groups nodes_with_ranks() const;
};

/// A line for the user about a wish that is not granted.
struct Remark {
    std::string key;  ///< of tollbar_say_once(); "" for a line that is said for every communicator
    std::string line;
    bool for_the_curious = false;  ///< said only with TOLLBAR_VERBOSE=1
};

void say(const Remark& remark);

/// The numbers and the memory that a decision needs besides facts and options.
struct Means {
    std::uint64_t ticket;
    toll_key key;
    std::function<std::optional<std::string>(const MpiSituation&)> stored_plan;
    std::string tuning_file;  ///< the name of the file that the plan was stored in
};

/// Random numbers that nobody else draws, and what the tuning file says.
Means own_means();

struct Decided {
    Decision decision;
    std::vector<Remark> remarks;
};

/// Pure: the same for the same arguments. `options` are those of rank 0, completed.
Decided decide(const std::vector<Facts>& all, const tollbar_mpi_options& options, const Means& means);

/// The remark that barriers go by messages where NICs could be used. `asked`: the user has asked for NICs.
Remark by_messages_because(const std::string& why, const char* name, bool asked);

/// The lowest rank of each node.
std::vector<Rank> leaders_of(const Groups& nodes);

/// A number that only the ranks of one node use, and for one thing: 0 for their arena, others for their meetings. All
/// are spread over 64 bits (Steele, Lea, Flood 2014, SplitMix), so that those of different communicators, whose roots
/// know nothing of each other, meet with a probability of 2^-25 among a million. Not 0, nor all ones, which arenas
/// keep.
constexpr std::uint64_t ticket_of(const Terms& terms, Rank node, std::uint8_t number) noexcept {
    std::uint64_t mixed = terms.ticket + ((std::uint64_t{node} << 8) + number + 1) * 0x9e37'79b9'7f4a'7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58'476d'1ce4'e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d0'49bb'1331'11eb;
    mixed ^= mixed >> 31;
    return mixed == 0 || ~mixed == 0 ? 1 : mixed;
}

/// The key by which plans for the communicator are chosen and stored. `options` are completed.
MpiSituation situation_of(const Terms& terms, Rank ranks, const tollbar_mpi_options& options);

}  // namespace tollbar::detail::mpi
