/* SPDX-License-Identifier: Apache-2.0
 * Persistent barriers. With OWN_START the program has an MPI_Start of its own, as one with a tool linked into it has.
 *
 * usage: handles PAGE */
#include "toll.h"

#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 5
#    include <mpi-ext.h>
#    define MPI_Barrier_init MPIX_Barrier_init
#endif

#ifdef OWN_START
int MPI_Start(MPI_Request* request) { return PMPI_Start(request); }
#endif

int main(int argc, char** argv) {
    MPI_Request request;
    MPI_Init(&argc, &argv);
    toll_start(argv);
    struct toll toll = toll_open(MPI_COMM_WORLD, 0);
    toll_barrier(&toll, 0);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 2 * toll.ranks; ++round) {
        toll_pay_turn(&toll, round % toll.ranks);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        toll_check(&toll);
    }
    MPI_Request_free(&request);
    return toll_end();
}
