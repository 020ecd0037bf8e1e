// SPDX-License-Identifier: Apache-2.0
// What the ranks of a communicator know of each other before its first barrier.
#pragma once

#include "ruling.hpp"
#include "transports/mpi/arena.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace tollbar::mpi {

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

/// Collective over the ranks of `p2p`. Throws std::system_error where the MPI fails.
/// With a time-out, says on stderr who has not come to it.
Agreement agree(const tollbar_p2p& p2p, const tollbar_mpi_options& options);

/// Local: what ranks can agree on that know nothing of each other. Each is a node, and all run that plan.
Agreement without_meeting(const tollbar_p2p& p2p, const tollbar_mpi_options& options, std::string_view plan);

}  // namespace tollbar::mpi
