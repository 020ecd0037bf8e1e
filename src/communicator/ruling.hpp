// SPDX-License-Identifier: Apache-2.0
// What rank 0 makes of what the ranks of a communicator say of themselves: who shares a node and a piece of its memory,
// whether the nodes have network cards for barriers, and which plan is run.
#pragma once

#include "introduction.hpp"
#include "participant.h"

#include "runtime/siphash.h"

#include <tollbar/algorithms.hpp>
#include <tollbar/plan.hpp>
#include <tollbar/detail/tuning.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tollbar::mpi {

/// What rank 0 says and everybody does.
struct Terms {
    char plan[128];  ///< empty: to be chosen
    double budget_ms;
    double timeout_s;      ///< 0: never
    std::uint64_t ticket;  ///< of this communicator alone; see ticket_of()
    toll_key key;          ///< of groups on the nodes' cards, if these are to be used
    tollbar_network network;
    Rank nodes;
    Rank per_node;  ///< ranks on the node that has most of them
    bool makes_arenas;
    bool crowded;  ///< some node has more ranks than CPUs

    /// Else the nodes meet by messages.
    bool has_cards() const noexcept { return key.low != 0; }
};

struct Ruling {
    Terms terms{};
    std::vector<Rank> node_of;            ///< of each rank
    std::vector<std::uint64_t> arena_of;  ///< of each node, the arena its ranks have in common; 0: none
    std::vector<std::uint32_t> cards;     ///< of each node, its address (IPv4, network byte order); or none
};

/// Only rank 0 does. Says on stderr which wishes are not granted and why.
Ruling rule(const std::vector<Introduction>& all, const tollbar_mpi_options& options);

/// Says once a process why barriers go by messages that could go by cards; where cards were not asked for only with
/// TOLLBAR_VERBOSE=1.
enum class Asked : std::uint8_t { yes, no };
void say_by_messages(const char* name, const std::string& why, Asked asked);

/// The ranks of each node, ascending.
Groups ranks_of_nodes(const std::vector<Rank>& node_of, Rank nodes);

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

/// What plans for the communicator are chosen and stored by.
MpiSituation situation_of(const Terms& terms, Rank ranks, const tollbar_mpi_options& options);

/// How the communicator is spoken of.
const char* name_of(const tollbar_mpi_options& options);

/// After how many seconds whoever is missing is named; 0: never.
double timeout_of(const tollbar_mpi_options& options);

}  // namespace tollbar::mpi
