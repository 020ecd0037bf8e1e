/* SPDX-License-Identifier: Apache-2.0
 * Rank 1 comes to each MPI_Ibarrier only when the script has heard who is missing.
 *
 * usage: late PAGE */
#include "../../mpi/toll.h"

static void ibarrier(struct toll* toll, int told) {
    MPI_Request request;
    if (toll_rank == 1) toll_await(&toll_page->told, told);
    toll_pay(toll);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    toll_check(toll);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    struct toll toll = toll_open(MPI_COMM_WORLD, 0);
    ibarrier(&toll, 1);
    toll_barrier(&toll, toll_world);
    ibarrier(&toll, 2);
    return toll_end();
}
