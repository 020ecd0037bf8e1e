// SPDX-License-Identifier: Apache-2.0
// The MPI job that a measuring program is: who is in it, which MPI, and what stands before MPI_Barrier.
#pragma once

#include "launch.hpp"

#include <mpi.h>

#include <string>

namespace tollbar::bench {

/// MPI from its beginning to its end. An MPI that has begun already, as under an OpenSHMEM, is not for this one to end.
class MpiJob : public Peers {
public:
    /// With that thread level, or as MPI_Init does it. Throws std::runtime_error when the MPI gives less.
    explicit MpiJob(int level = MPI_THREAD_SINGLE);
    ~MpiJob() override;
    MpiJob(const MpiJob&) = delete;
    MpiJob& operator=(const MpiJob&) = delete;

    Rank rank() const noexcept override { return rank_; }
    Rank ranks() const noexcept override { return ranks_; }
    std::uint64_t told(std::uint64_t mine) const override;
    bool all(bool mine) const override;
    void abort() const noexcept override { MPI_Abort(MPI_COMM_WORLD, 1); }

private:
    Rank rank_ = 0;
    Rank ranks_ = 0;
    bool ends_ = true;
};

/// "Open MPI 4.1.4", "MPICH 4.0.2", "Intel MPI 2021.19".
std::string mpi_version();

/// The door of tollbar's that is loaded in this process: "component", "preload" or "none".
std::string mpi_door();

/// How many hosts the MPI tells apart. Collective.
Rank mpi_hosts();

/// The part of the environment record about the MPI. Collective.
Versions mpi_versions(const std::string& setting, const std::string& apart);

}  // namespace tollbar::bench
