// SPDX-License-Identifier: Apache-2.0
// Finds out whether all threads of all ranks of a node have a CPU each, which no rank can know alone.
#pragma once

#include "team.hpp"

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace tollbar::detail::hybrid {

/// Finds out once, from the first episode on, without anybody waiting for it. Until then everybody is polite.
class NodeOccupancy {
public:
    /// `node` is a communicator of the ranks that share a node, used for nothing else.
    explicit NodeOccupancy(MPI_Comm node);
    ~NodeOccupancy();
    NodeOccupancy(const NodeOccupancy&) = delete;
    NodeOccupancy& operator=(const NodeOccupancy&) = delete;

    /// To be called by each messenger, of the first episode and of those after it. Never blocks. Tells the team and
    /// the participant once it is known.
    void go_on(RankThreads& team, tollbar_mpi_participant* participant) noexcept;

private:
    /// One rank's threads taken together.
    struct Summary {
        Standing standing;  ///< all of their CPUs
        std::uint32_t threads;
        bool crowded;  ///< among themselves
    };

    enum class Stage : std::uint8_t { unasked, asked, known };

    static Summary sum_up(const std::vector<Standing>& threads);
    void ask(const RankThreads& team);
    Occupancy judge() const;

    MPI_Comm node_;
    MPI_Request request_;
    Stage stage_ = Stage::unasked;
    Summary mine_{};
    std::vector<Summary> all_;
};

}  // namespace tollbar::detail::hybrid
