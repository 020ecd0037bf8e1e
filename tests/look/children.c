/* SPDX-License-Identifier: Apache-2.0
 * One of two threads waits at a barrier until the other has read all of stdin. The exit code is 1 where a child was
 * seen that the program has not started, or a signal came of one. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static atomic_int strangers, ended;

static void note(int number) {
    (void)number;
    strangers = 1;
}

static void* wait_there(void* unused) {
    pthread_barrier_wait(&barrier);
    return unused;
}

static void* look(void* unused) {
    while (!ended)
        if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD) strangers = 1;
    return unused;
}

int main(void) {
    pthread_t waiter, looker;
    char byte;
    signal(SIGCHLD, note);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&waiter, NULL, wait_there, NULL);
    pthread_create(&looker, NULL, look, NULL);
    while (read(0, &byte, 1) > 0) continue;
    pthread_barrier_wait(&barrier);
    ended = 1;
    pthread_join(waiter, NULL);
    pthread_join(looker, NULL);
    return strangers;
}
