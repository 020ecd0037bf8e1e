/* SPDX-License-Identifier: Apache-2.0
 * Ranks let go of a freed communicator at different times, because each has a handle left for as long as it likes. With
 * several threads each communicator has one of tollbar's own beside it, which goes with the last handle. */
#include "toll.h"

#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 5
#    include <mpi-ext.h>
#    define MPI_Barrier_init MPIX_Barrier_init
#endif

int main(int argc, char** argv) {
    (void)argc;
    int level = 0;
    MPI_Comm next;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    toll_start(argv);
    toll_plan("turnstile");
    for (int round = 0; round < 10; ++round) {
        MPI_Comm comm;
        MPI_Request request;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        toll_expect(MPI_Barrier_init(comm, MPI_INFO_NULL, &request) == MPI_SUCCESS);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_free(&comm);
        for (int turn = 0; turn < toll_world; ++turn) {
            MPI_Comm_dup(MPI_COMM_WORLD, &next);
            struct toll toll = toll_open(next, round * toll_world + turn);
            toll_barrier(&toll, turn);
            if (turn == (toll_rank + round) % toll_world) toll_expect(MPI_Request_free(&request) == MPI_SUCCESS);
            toll_barrier(&toll, -1);
            MPI_Comm_free(&next);
        }
    }
    return toll_end();
}
