/* SPDX-License-Identifier: Apache-2.0
 * Rank 0 says how many ranks there are, and which library they run on. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Get_library_version(version, &length);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) printf("%d ranks of %s\n", ranks, version);
    MPI_Finalize();
    return 0;
}
