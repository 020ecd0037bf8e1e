// SPDX-License-Identifier: Apache-2.0
// The substitute that users have for a split barrier of OpenSHMEM, in its shape: post(), then test() until it says
// true.
#pragma once

#include <mpi.h>
#include <shmem.h>

namespace tollbar::bench {

/// The barrier of an MPI below the same PEs; what has been put is completed before.
class IbarrierSplit {
public:
    IbarrierSplit() { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
    ~IbarrierSplit() { MPI_Comm_free(&comm_); }
    IbarrierSplit(const IbarrierSplit&) = delete;
    IbarrierSplit& operator=(const IbarrierSplit&) = delete;

    void post() noexcept {
        shmem_quiet();
        MPI_Ibarrier(comm_, &request_);
    }
    bool test() noexcept {
        int done = 0;
        MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
        return done != 0;
    }
    void wait() noexcept { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

/// No split at all: everything is over when post() returns.
struct BlockingSplit {
    static void post() noexcept { shmem_barrier_all(); }
    static bool test() noexcept { return true; }
    static void wait() noexcept {}
};

}  // namespace tollbar::bench
