// SPDX-License-Identifier: Apache-2.0
// Threads inside MPI ranks from C++, with a plan of each level, and the missing of a wait that ran out of time.
#include <tollbar/mpi.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

int main(int argc, char** argv) {
    using namespace std::chrono_literals;
    int level = 0, rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
        tollbar::mpi_barrier barrier(MPI_COMM_WORLD, 2, "mcs", "dissemination");
        barrier.arrive(0);
        if (!barrier.wait_for(0, 1ms))
            for (const tollbar_missing& one : barrier.missing(0))
                if (rank == 0) std::printf("thread %d of rank %u is missing\n", one.thread_number, one.rank);
        std::jthread other([&] { barrier.arrive_and_wait(1); });
        barrier.wait(0);
    }
    MPI_Finalize();
}
