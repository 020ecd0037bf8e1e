/* SPDX-License-Identifier: Apache-2.0
 * Threads in calls that return EINTR when their thread is stopped: epoll_wait, semop, recv with a time-out and
 * sigtimedwait; one thread enters epoll_wait again and again. Each reports a call that was interrupted. After a byte on
 * stdin the program ends, with the number of these as its exit code. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static atomic_int interrupted;

static void count(const char* call, long result) {
    if (result < 0 && errno == EINTR) {
        atomic_fetch_add(&interrupted, 1);
        fprintf(stderr, "%s was interrupted\n", call);
    }
}

static void* in_epoll(void* short_waits) {
    struct epoll_event event;
    const int poll = epoll_create1(0);
    do {
        count("epoll_wait", epoll_wait(poll, &event, 1, short_waits != NULL ? 1 : 1000000));
    } while (short_waits != NULL);
    return NULL;
}

static void* in_semop(void* unused) {
    const int semaphore = semget(IPC_PRIVATE, 1, 0600);
    struct sembuf down = {0, -1, 0};
    (void)unused;
    count("semop", semop(semaphore, &down, 1));
    return NULL;
}

static void* in_recv(void* unused) {
    int pair[2];
    char byte;
    const struct timeval limit = {1000, 0};
    (void)unused;
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    count("recv", recv(pair[0], &byte, 1, 0));
    return NULL;
}

static void* in_sigtimedwait(void* unused) {
    sigset_t set;
    const struct timespec limit = {1000, 0};
    (void)unused;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    count("sigtimedwait", sigtimedwait(&set, NULL, &limit));
    return NULL;
}

int main(int words, char** word) {
    pthread_t thread;
    char byte;
    (void)word;
    pthread_create(&thread, NULL, in_epoll, NULL);
    pthread_create(&thread, NULL, in_semop, NULL);
    pthread_create(&thread, NULL, in_recv, NULL);
    pthread_create(&thread, NULL, in_sigtimedwait, NULL);
    if (words > 1) pthread_create(&thread, NULL, in_epoll, (void*)1);
    puts("ready");
    fflush(stdout);
    if (read(0, &byte, 1) < 0) return 99;
    return interrupted;
}
