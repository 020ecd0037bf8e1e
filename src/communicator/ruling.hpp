// SPDX-License-Identifier: Apache-2.0
// What rank 0 makes of what the ranks of a communicator say of themselves: who shares a node and a piece of its memory,
// whether the nodes have network cards for barriers, and which plan is run.
#pragma once

#include "introduction.hpp"
#include "participant.h"

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
    std::uint64_t ticket;  ///< unique in the job, as are the next 2^32; see ticket_of()
    std::uint64_t key;     ///< of groups on the nodes' cards; 0: they meet by messages
    tollbar_network network;
    Rank nodes;
    Rank per_node;  ///< ranks on the node that has most of them
    bool makes_arenas;
    bool crowded;  ///< some node has more ranks than CPUs
};

struct Ruling {
    Terms terms{};
    std::vector<Rank> node_of;            ///< of each rank
    std::vector<std::uint64_t> arena_of;  ///< of each node, the arena its ranks have in common; 0: none
    std::vector<std::uint32_t> cards;     ///< of each node, its address (IPv4, network byte order); empty without key
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

/// A number that only the ranks of one node use, and for one thing: 0 for their arena, others for their meetings.
constexpr std::uint64_t ticket_of(const Terms& terms, Rank node, std::uint8_t number) noexcept {
    return terms.ticket + (std::uint64_t{node} << 8) + number;
}

/// What plans for the communicator are chosen and stored by.
MpiSituation situation_of(const Terms& terms, Rank ranks, const tollbar_mpi_options& options);

/// How the communicator is spoken of.
const char* name_of(const tollbar_mpi_options& options);

/// After how many seconds whoever is missing is named; 0: never.
double timeout_of(const tollbar_mpi_options& options);

}  // namespace tollbar::mpi
