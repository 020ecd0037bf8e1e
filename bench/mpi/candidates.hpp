// SPDX-License-Identifier: Apache-2.0
// Barriers that an MPI program measures: MPI_Barrier and MPI_Ibarrier as they come, the MPI's own barrier behind a
// preload, and every plan of tollbar's by words and by messages.
#pragma once

#include "job.hpp"

#include "transports/mpi/pmpi_p2p.h"

#include <memory>

namespace tollbar::bench {

/// Messages for tollbar's plans on a communicator of their own; every plan in turn has it.
class PointToPoint {
public:
    PointToPoint();
    ~PointToPoint();
    PointToPoint(const PointToPoint&) = delete;
    PointToPoint& operator=(const PointToPoint&) = delete;

    const tollbar_p2p& get() const noexcept { return p2p_; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    tollbar_p2p p2p_{};
};

/// A collective call of MPI's on a new duplicate of the world.
template <class Call>
class Called {
public:
    Called() { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
    ~Called() { MPI_Comm_free(&comm_); }
    Called(const Called&) = delete;
    Called& operator=(const Called&) = delete;

    struct Seat {
        MPI_Comm comm;
        void episode() const noexcept { Call::episode(comm); }
    };
    Seat seat(Rank) const noexcept { return {comm_}; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

struct Blocking {
    static void episode(MPI_Comm comm) noexcept { MPI_Barrier(comm); }
};

struct Split {
    static void episode(MPI_Comm comm) noexcept {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ibarrier(comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
};

/// Everything that can be measured among that many ranks on that many hosts; MPI_Barrier is a door's where one is
/// loaded, MPI_Ibarrier the component's where that is.
Roster mpi_roster(Rank ranks, Rank hosts, const std::shared_ptr<PointToPoint>& p2p);

/// Any plan for that many ranks, for --only; the waiting policy is auto or messages.
Add mpi_plans(Rank ranks, const std::shared_ptr<PointToPoint>& p2p);

}  // namespace tollbar::bench
