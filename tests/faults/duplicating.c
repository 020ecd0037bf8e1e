/* SPDX-License-Identifier: Apache-2.0
 * A first barrier while an MPI_Comm_idup of the same communicator is under way, and a rank that comes to it late.
 *
 * usage: duplicating PAGE */
#include "toll.h"

int main(int argc, char** argv) {
    int level = MPI_THREAD_MULTIPLE;
    MPI_Init_thread(&argc, &argv, level, &level);
    toll_start(argv);
    for (int round = 0; round < 2 * toll_world; ++round) {
        MPI_Comm comm, other;
        MPI_Request request;
        MPI_Comm_split(MPI_COMM_WORLD, 0, (toll_rank + round) % toll_world, &comm);
        struct toll toll = toll_open(comm, 2 * round), of_other;
        MPI_Comm_idup(comm, &other, &request);
        for (int turn = 0; turn < 100 && toll.rank == round % toll_world; ++turn) {
            int found;
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
            toll_pause();
        }
        toll_barrier(&toll, -1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        of_other = toll_open(other, 2 * round + 1);
        toll_barrier(&of_other, 0);
        MPI_Comm_free(&other);
        MPI_Comm_free(&comm);
    }
    return toll_end();
}
