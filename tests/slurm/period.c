/* SPDX-License-Identifier: Apache-2.0
 * Rank 0 says how many microseconds a barrier takes, on average over about a second. */
#include <mpi.h>
#include <stdio.h>

static double seconds_of(int barriers) {
    const double since = MPI_Wtime();
    for (int i = 0; i < barriers; ++i) MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - since;
}

int main(int argc, char** argv) {
    enum { first = 20 };
    const double most = 20000;
    int rank, barriers = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    seconds_of(first); /* the first one sets up */
    const double wanted = first / seconds_of(first);
    if (rank == 0) barriers = (int)(wanted < first ? first : wanted > most ? most : wanted);
    MPI_Bcast(&barriers, 1, MPI_INT, 0, MPI_COMM_WORLD);
    const double seconds = seconds_of(barriers);
    if (rank == 0) printf("%.1f\n", seconds / barriers * 1e6);
    MPI_Finalize();
    return 0;
}
