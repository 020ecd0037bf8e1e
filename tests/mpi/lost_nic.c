/* SPDX-License-Identifier: Apache-2.0
 * Barriers until one fails, which is no reason to leave it early; every rank that was told so says it, and when as many
 * have as are expected, the program ends itself.
 *
 * usage: lost_nic PAGE EXPECTED */
#include "toll.h"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    struct toll toll = toll_open(MPI_COMM_WORLD, 0);
    for (int failed = 0; !failed; atomic_store(&toll_page->tell, toll.episode)) {
        toll_pay(&toll);
        failed = MPI_Barrier(MPI_COMM_WORLD);
        if (!failed) toll_check(&toll);
    }
    const int again = MPI_Barrier(MPI_COMM_WORLD);
    fprintf(stderr, "rank %d was told, and again: %d\n", toll_rank, again != MPI_SUCCESS);
    const int told = atomic_fetch_add(&toll_page->corner[0], 1) + 1;
    if (told == atoi(argv[2])) {
        usleep(300000); /* for what was said to get out */
        MPI_Abort(MPI_COMM_WORLD, 4);
    }
    for (;;) toll_pause();
}
