// SPDX-License-Identifier: Apache-2.0
// What the ranks of a communicator know of each other before its first barrier.
#pragma once

#include "ruling.hpp"
#include "transports/mpi/arena.hpp"

#include <memory>
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

/// Collective over the carrier's ranks. Throws std::system_error where the MPI fails.
/// With a time-out, says on stderr who has not come to it.
Agreement agree(const tollbar_carrier& carrier, const tollbar_mpi_options& options);

}  // namespace tollbar::mpi
