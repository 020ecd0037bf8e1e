/* SPDX-License-Identifier: Apache-2.0
 * Rank 2 is, by mistake, at the barrier of another communicator with the same ranks. Nobody gets through one.
 *
 * usage: elsewhere PAGE first|later */
#include "toll.h"

int main(int argc, char** argv) {
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    toll_start(argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_name(copy, "copy");
    if (strcmp(argv[2], "later") == 0) MPI_Barrier(MPI_COMM_WORLD), MPI_Barrier(copy);
    MPI_Barrier(toll_rank == 2 ? copy : MPI_COMM_WORLD);
    atomic_fetch_add(&toll_page->tell, 1);
    for (;;) pause();
}
