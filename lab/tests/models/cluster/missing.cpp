// SPDX-License-Identifier: Apache-2.0
// On the simulated cluster one rank stays away until the others have said who they miss; then everybody leaves.
// Prints one line "RANK: TEXT" for each rank that waits, and at the end "all have left".
//
// usage: missing PLAN RANK
#include "communicator/participant.h"
#include "models/cluster/simulated_p2p.h"

#include <simgrid/actor.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int late = argc == 3 ? std::atoi(argv[2]) : 0;
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    tollbar_p2p p2p;
    tollbar_simulated_p2p_open(own, TOLLBAR_SIMULATED_POLLING, 0, &p2p);
    tollbar_mpi_options options{};
    options.plan = argv[1];
    options.sharing = TOLLBAR_SHARING_NEVER;
    tollbar_mpi_participant* participant = nullptr;
    if (argc != 3 || tollbar_mpi_join(&p2p, &options, &participant) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    tollbar_mpi_arrive_and_wait(participant, nullptr);  // everybody has come once

    std::uint64_t episode = 0;
    if (rank != late) {
        episode = tollbar_mpi_arrive(participant, nullptr);
        constexpr int looks = 20;  // what the others have sent is there long before
        for (int look = 0; look < looks; ++look) {
            sg_actor_sleep_for(1e-3);
            if (tollbar_mpi_test(participant, episode) != 0) std::printf("%d: has left\n", rank);
        }
        std::array<char, 4096> text{};
        tollbar_mpi_missing(participant, text.data(), text.size());
        std::printf("%d: %s\n", rank, text.data());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == late) episode = tollbar_mpi_arrive(participant, nullptr);
    tollbar_mpi_wait(participant, episode);

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) std::printf("all have left\n");
    tollbar_mpi_leave(participant);
    tollbar_simulated_p2p_close(&p2p);
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}
