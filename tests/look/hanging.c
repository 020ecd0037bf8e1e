/* SPDX-License-Identifier: Apache-2.0
 * An MPI job in which one rank goes astray in a given way while the others are in their fourth barrier; in a cycle all
 * of them receive from their neighbours. The others compute for a while before, if they are told to.
 *
 * usage: hanging KIND RANK [SECONDS] */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Shows in frames. */
#define APART __attribute__((noinline))

enum { before = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long spun;

static void* keep_lock(void* locked) {
    pthread_mutex_lock(&lock);
    pthread_barrier_wait(locked);
    for (;;) pause();
}

APART static void wait_for_lock(void) {
    pthread_t thread;
    pthread_barrier_t locked;
    pthread_barrier_init(&locked, NULL, 2);
    pthread_create(&thread, NULL, keep_lock, &locked);
    pthread_barrier_wait(&locked);
    pthread_mutex_lock(&lock);
}

APART static void compute(void) {
    for (;;) ++spun;
}

APART static void wait_for_input(void) {
    int ends[2];
    char byte;
    if (pipe(ends) == 0 && read(ends[0], &byte, 1) < 0) perror("read");
}

APART static void go_astray(const char* kind, MPI_Comm alone, MPI_Comm again) {
    int nothing = 0;
    if (strcmp(kind, "absent") == 0) pause();
    if (strcmp(kind, "sleep") == 0) sleep(100000);
    if (strcmp(kind, "stopped") == 0) raise(SIGSTOP);
    if (strcmp(kind, "dead") == 0) raise(SIGKILL);
    if (strcmp(kind, "exited") == 0) _exit(0);
    if (strcmp(kind, "loop") == 0) compute();
    if (strcmp(kind, "lock") == 0) wait_for_lock();
    if (strcmp(kind, "input") == 0) wait_for_input();
    if (strcmp(kind, "communicator") == 0 || strcmp(kind, "order") == 0) MPI_Barrier(again);
    if (strcmp(kind, "call") == 0) MPI_Allreduce(MPI_IN_PLACE, &nothing, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(kind, "receive") == 0) MPI_Recv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 7, alone, MPI_STATUS_IGNORE);
    if (strcmp(kind, "collective") == 0) MPI_Allreduce(MPI_IN_PLACE, &nothing, 1, MPI_INT, MPI_SUM, again);
}

APART static void receive_from(int rank) {
    int nothing;
    MPI_Recv(&nothing, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int words, char** word) {
    const char* kind = words > 1 ? word[1] : "absent";
    const int astray = words > 2 ? atoi(word[2]) : 0;
    const char* number = getenv("OMPI_COMM_WORLD_RANK");
    if (number == NULL) number = getenv("PMI_RANK");
    if (number == NULL) number = getenv("PMIX_RANK");
    if (strcmp(kind, "init") == 0 && number != NULL && atoi(number) == astray) pause();

    int rank, ranks, mine = 1, sum;
    MPI_Comm alone, again;
    MPI_Init(&words, &word);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    MPI_Comm_dup(MPI_COMM_WORLD, &again);
    for (int i = 0; i < before; ++i) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(again);
    const int next = (rank + 1) % ranks, root = rank == astray ? astray : (astray + 1) % ranks;
    if (rank == astray) go_astray(kind, alone, again);
    const double seconds = words > 3 ? atof(word[3]) : 0;
    for (const double since = MPI_Wtime(); MPI_Wtime() - since < seconds;) ++spun;
    if (strcmp(kind, "cycle") == 0 || (strcmp(kind, "message") == 0 && rank == astray)) receive_from(next);
    if (strcmp(kind, "root") == 0) MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(kind, "order") == 0 && rank != astray) MPI_Barrier(again);
    MPI_Finalize();
    return 0;
}
