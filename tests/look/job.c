/* SPDX-License-Identifier: Apache-2.0
 * An MPI job whose rank 2 is in sleep() while the others are in MPI_Allreduce; with `spin` it computes, with `apart` it
 * is in the same call of another communicator, with `dead` it has ended; with `stopped` it is, and rank 0 sends it a
 * message. With `meet` all of them meet about every two milliseconds, rank 2 always last. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long spun;
static char message[1 << 20]; /* too long to be sent before it is received */

__attribute__((noinline)) static void compute(void) {
    for (;;) ++spun;
}

int main(int words, char** word) {
    int rank;
    struct timespec now, until;
    double mine = 1, sum = 0;
    MPI_Comm solver;
    const char* how = words > 1 ? word[1] : "sleep";
    MPI_Init(&words, &word);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &solver);
    MPI_Comm_set_name(solver, "solver");
    for (int i = 0; i < 5; ++i) MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 2) {
        puts("ready");
        fflush(stdout);
        if (strcmp(how, "dead") == 0) raise(SIGKILL);
        if (strcmp(how, "stopped") == 0) raise(SIGSTOP);
        if (strcmp(how, "spin") == 0) compute();
        if (strcmp(how, "sleep") == 0) sleep(1000);
        if (strcmp(how, "apart") == 0) MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, solver);
    }
    if (rank == 0 && strcmp(how, "stopped") == 0) MPI_Send(message, sizeof message, MPI_CHAR, 2, 0, MPI_COMM_WORLD);
    for (long i = 0; strcmp(how, "meet") == 0; ++i) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += rank == 2 ? 2000000 : 0;
        do {
            clock_gettime(CLOCK_MONOTONIC, &now);
        } while (now.tv_sec == until.tv_sec && now.tv_nsec < until.tv_nsec);
        mine = (double)i;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
