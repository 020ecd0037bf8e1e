/* SPDX-License-Identifier: Apache-2.0
 * Barriers alone, of which each rank is late for some: nobody leaves one early. Rank 0 says that this has held before
 * MPI_Finalize, from which MPICH by PMI-2 does not always come back.
 *
 * usage: barriers PAGE */
#include "toll.h"

int main(int argc, char** argv) {
    enum { rounds = 5 };
    MPI_Init(&argc, &argv);
    toll_start(argv);
    struct toll toll = toll_open(MPI_COMM_WORLD, 0);
    for (int i = 0; i < rounds; ++i)
        for (int late = 0; late < toll.ranks; ++late) toll_barrier(&toll, late);
    toll_meet();
    if (toll_rank == 0) {
        printf("passed: %ld checks\n", toll_checks);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
