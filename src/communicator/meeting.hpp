// SPDX-License-Identifier: Apache-2.0
// The ranks of a communicator meet: they exchange their facts, learn what was decided, and get memory in common.
#pragma once

#include "decision.hpp"
#include "set_up.hpp"

#include "transports/mpi/arena.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace tollbar::detail::mpi {

/// The knowledge of a rank once all have met.
struct Meeting {
    Decision decision{};
    std::vector<Rank> leaders;       ///< the lowest rank of each node
    std::vector<Rank> here;          ///< the ranks of this node, ascending
    Rank node = 0;                   ///< this rank's
    Rank index = 0;                  ///< this rank's, among those here
    Standing standing{};             ///< this rank's
    std::shared_ptr<Arena> arena;    ///< null: the ranks here have no memory in common, or there is but one
    std::vector<Address> addresses;  ///< of all ranks; empty without time-out

    bool leads() const noexcept { return index == 0; }
};

/// Collective: one gather and one broadcast; two of both more for the first communicator on a node, which gets its
/// memory then. `options` are completed. Throws std::system_error where the MPI fails.
Meeting meet(const SetUp& set_up, const tollbar_mpi_options& options);

/// Local: the meeting of a rank that knows nothing of the others. Each is a node, and all run that plan.
Meeting alone(const SetUp& set_up, const tollbar_mpi_options& options, std::string_view plan);

}  // namespace tollbar::detail::mpi
