/* SPDX-License-Identifier: Apache-2.0
 * Communicators whose barrier stays with Open MPI: of one rank, and between two groups.
 *
 * usage: declined PAGE */
#include "../../mpi/toll.h"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    struct toll toll = toll_open(MPI_COMM_SELF, toll_rank);
    MPI_Request request;
    toll_barrier(&toll, 1);
    toll_pay(&toll);
    MPI_Ibarrier(MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    MPI_Comm half, between;
    const int colour = toll_rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, colour, toll_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - colour, 0, &between);
    for (int i = 0; i < 3; ++i) { /* Open MPI's own; that they end is all we look at */
        toll_expect(MPI_Barrier(between) == MPI_SUCCESS);
        toll_expect(MPI_Ibarrier(between, &request) == MPI_SUCCESS);
        toll_expect(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    return toll_end();
}
