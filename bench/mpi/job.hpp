// SPDX-License-Identifier: Apache-2.0
// The MPI job that a measuring program is: who is in it, which MPI, and what stands before MPI_Barrier.
#pragma once

#include <tollbar/plan.hpp>

#include <mpi.h>

#include <string>

namespace tollbar::bench {

/// MPI from its beginning to its end. Where it has begun already, as under an OpenSHMEM, it is not for this one to end.
class MpiJob {
public:
    /// With that thread level, or as MPI_Init does it. Throws std::runtime_error when the MPI gives less.
    MpiJob(int* count, char*** words, int level = MPI_THREAD_SINGLE);
    ~MpiJob();
    MpiJob(const MpiJob&) = delete;
    MpiJob& operator=(const MpiJob&) = delete;

    Rank rank() const noexcept { return rank_; }
    Rank ranks() const noexcept { return ranks_; }

    /// How many hosts the MPI tells apart. Collective.
    Rank hosts() const;

    /// "Open MPI 4.1.4", "MPICH 4.0.2", "Intel MPI 2021.19".
    static std::string mpi();

    /// What of tollbar's is loaded in this process: "component", "preload" or "none".
    static std::string door();

private:
    Rank rank_ = 0;
    Rank ranks_ = 0;
    bool ends_ = true;
};

}  // namespace tollbar::bench
