// SPDX-License-Identifier: Apache-2.0
// What the ranks of a communicator tell each other before its first barrier: who shares a node and a piece of its
// memory, whose nodes have network cards for barriers, and which plan everybody wants.
#pragma once

#include "participant.h"
#include "transports/mpi/arena.hpp"

#include <tollbar/crowding.hpp>
#include <tollbar/plan.hpp>
#include <tollbar/tuning.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tollbar::mpi {

/// Where a rank's process is; kept only while somebody may ask who is missing.
struct Address {
    char host[32];
    std::int32_t process;
};

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

struct Agreement {
    Terms terms{};
    std::vector<Rank> node_of;         ///< of each rank
    std::vector<Rank> leaders;         ///< the lowest rank of each node
    std::vector<Rank> here;            ///< the ranks of this node, ascending
    Rank node = 0;                     ///< this rank's
    Standing standing{};               ///< this rank's
    Rank place = 0;                    ///< this rank's, among those here
    std::shared_ptr<Arena> arena;      ///< null: the ranks here have no memory in common, or there is but one
    std::vector<Address> addresses;    ///< of all ranks; empty without time-out
    std::vector<std::uint32_t> cards;  ///< of each node, its address (IPv4, network byte order); empty without key
};

/// What gethostname(2) says.
const std::string& host_name();

/// A number that only the ranks of one node use, and for one thing: 0 for their arena, others for their meetings.
constexpr std::uint64_t ticket_of(const Terms& terms, Rank node, std::uint8_t number) noexcept {
    return terms.ticket + (std::uint64_t{node} << 8) + number;
}

/// What plans for the communicator are chosen and stored by.
MpiSituation situation_of(const Terms& terms, Rank ranks, const tollbar_mpi_options& options);

/// Collective over the carrier's ranks. Throws std::system_error where the MPI fails.
/// With a time-out, says on stderr who has not come to it.
Agreement agree(const tollbar_carrier& carrier, const tollbar_mpi_options& options);

}  // namespace tollbar::mpi
