/* SPDX-License-Identifier: Apache-2.0
 * A tool as profilers are: it counts calls, does them by their profiling names, and tells when the program ends. With
 * ONLY_START it has one call only. */
#include <mpi.h>
#include <stdio.h>

static int starts;

#ifndef ONLY_START
static int inits, finalizes, barriers, ibarriers, waits;

int MPI_Init(int* argc, char*** argv) {
    ++inits;
    return PMPI_Init(argc, argv);
}

int MPI_Barrier(MPI_Comm comm) {
    ++barriers;
    return PMPI_Barrier(comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
    ++ibarriers;
    return PMPI_Ibarrier(comm, request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    ++waits;
    return PMPI_Wait(request, status);
}

/* One that ends a request is as good as a wait. */
int MPI_Test(MPI_Request* request, int* over, MPI_Status* status) {
    const int code = PMPI_Test(request, over, status);
    waits += code == MPI_SUCCESS && *over;
    return code;
}

int MPI_Finalize(void) {
    int rank;
    ++finalizes;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "tool: rank %d: %d %d %d %d %d %d\n", rank, inits, finalizes, barriers, ibarriers, waits, starts);
    return PMPI_Finalize();
}
#endif

int MPI_Start(MPI_Request* request) {
    ++starts;
    return PMPI_Start(request);
}
