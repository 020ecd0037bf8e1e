/* SPDX-License-Identifier: Apache-2.0
 * An MPI job that goes from barrier to barrier, does not mind SIGUSR1, and says so when it has ended.
 *
 * usage: steady SECONDS [hang]     with hang, and as long as Slurm has not started the job again, rank 1 sleeps */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void count(int number) { signals += number == SIGUSR1; }

int main(int words, char** word) {
    const double seconds = words > 1 ? atof(word[1]) : 1;
    const int hangs = words > 2 && strcmp(word[2], "hang") == 0 && getenv("SLURM_RESTART_COUNT") == NULL;
    int rank, over = 0;
    signal(SIGUSR1, count);
    MPI_Init(&words, &word);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (const double since = MPI_Wtime(); !over;) {
        if (hangs && rank == 1) sleep(100000);
        usleep(20000);
        over = MPI_Wtime() - since > seconds;
        MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) printf("steady: over, with %d signals\n", (int)signals);
    MPI_Finalize();
    return 0;
}
