/* SPDX-License-Identifier: Apache-2.0
 * An MPI job that is merely slow: one rank is stopped for a while, again and again, while all of them use barriers.
 *
 * usage: slow EPISODES RANK STOPPED_MS */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A child, begun before the MPI, stops its parent and lets it go on. */
static void stop_again_and_again(long stopped_ms) {
    const pid_t parent = getpid();
    if (fork() != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        usleep(200000);
        if (getppid() != parent) _exit(0);
        kill(parent, SIGSTOP);
        usleep((useconds_t)stopped_ms * 1000);
        kill(parent, SIGCONT);
    }
}

int main(int words, char** word) {
    const char* numbers[] = {getenv("OMPI_COMM_WORLD_RANK"), getenv("PMI_RANK")};
    const char* number = numbers[0] != NULL ? numbers[0] : numbers[1];
    if (words != 4 || number == NULL) return 2;
    const long episodes = atol(word[1]);
    if (atoi(number) == atoi(word[2])) stop_again_and_again(atol(word[3]));
    MPI_Init(&words, &word);
    for (long i = 0; i < episodes; ++i) {
        usleep(2000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
