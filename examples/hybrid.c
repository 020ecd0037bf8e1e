/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP threads inside MPI ranks: all threads of all ranks meet before each reads what its neighbour wrote. */
#include <tollbar/mpi.h>

#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 3, times = 1000 };

int main(int argc, char** argv) {
    int level, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    /* One number for each thread of each rank, in memory that the ranks of this host share. */
    long* own;
    long* all;
    MPI_Win window;
    MPI_Aint bytes = threads * sizeof(long);
    MPI_Win_allocate_shared(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
    MPI_Win_shared_query(window, 0, &bytes, &(int){0}, &all);

    tollbar_mpi_barrier* barrier;
    if (tollbar_mpi_barrier_create(MPI_COMM_WORLD, threads, NULL, &barrier) != 0) {
        fprintf(stderr, "%s\n", tollbar_mpi_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }

    long early = 0;
#pragma omp parallel num_threads(threads) reduction(+ : early)
    {
        const unsigned thread = (unsigned)omp_get_thread_num();
        const int self = rank * threads + (int)thread;
        const int neighbour = (self + 1) % (ranks * threads);
        for (long i = 1; i <= times; ++i) {
            all[self] = i;
            tollbar_mpi_barrier_arrive_and_wait(barrier, thread);
            if (all[neighbour] != i) ++early;
            tollbar_mpi_barrier_arrive_and_wait(barrier, thread);
        }
    }
    long sum = 0;
    MPI_Reduce(&early, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d threads in each of %d ranks have met %d times, %ld early\n", threads, ranks, times, sum);

    tollbar_mpi_barrier_destroy(barrier);
    MPI_Win_free(&window);
    MPI_Finalize();
    return sum == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
