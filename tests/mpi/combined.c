/* SPDX-License-Identifier: Apache-2.0
 * A combined barrier of one thread in each rank, from the library that is preloaded.
 *
 * usage: combined PAGE */
#include <tollbar/mpi.h>

#include <dlfcn.h>
#include <stdio.h>

static void* found(const char* name) {
    void* function = dlsym(RTLD_DEFAULT, name);
    if (function == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    return function;
}

int main(int argc, char** argv) {
    int level, rank;
    int (*create)(MPI_Comm, unsigned, const tollbar_mpi_barrier_options*, tollbar_mpi_barrier**);
    int (*arrive_and_wait)(tollbar_mpi_barrier*, unsigned);
    int (*destroy)(tollbar_mpi_barrier*);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    *(void**)&create = found("tollbar_mpi_barrier_create");
    *(void**)&arrive_and_wait = found("tollbar_mpi_barrier_arrive_and_wait");
    *(void**)&destroy = found("tollbar_mpi_barrier_destroy");
    tollbar_mpi_barrier* barrier;
    if (create(MPI_COMM_WORLD, 1, NULL, &barrier) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < 3; ++i) arrive_and_wait(barrier, 0);
    destroy(barrier);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("passed: the ranks have met\n");
    return MPI_Finalize();
}
