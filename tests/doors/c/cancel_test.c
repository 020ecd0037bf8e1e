/* SPDX-License-Identifier: Apache-2.0 */
/* No function is a cancellation point, whatever it does inside: a thread that is cancelled in one comes back from it.
 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <tollbar/udp.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void pass_time(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL); }

/* A thread's calls, in a thread that is cancelled before them or meanwhile. */
struct calls {
    int (*make)(void*);
    void* with;
    int result, went_on;
};

static void* run(void* argument) {
    struct calls* calls = argument;
    calls->result = calls->make(calls->with);
    pthread_testcancel();
    calls->went_on = 1;
    return NULL;
}

static void* run_cancelled(void* argument) {
    pthread_cancel(pthread_self());
    return run(argument);
}

/* The calls come back with 0; the thread ends right after. */
static void come_back(pthread_t thread, const struct calls* calls) {
    void* ended = NULL;
    pthread_join(thread, &ended);
    CHECK(ended == PTHREAD_CANCELED);
    CHECK(calls->result == 0);
    CHECK(calls->went_on == 0);
}

static void in_cancelled(int (*make)(void*), void* with) {
    struct calls calls = {make, with, -1, 0};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run_cancelled, &calls) == 0);
    come_back(thread, &calls);
}

/* `let_go` ends the wait of a thread that is cancelled when it sleeps and has named the missing. */
static void in_waiting(int (*make)(void*), void* with, int (*let_go)(void*), void* by) {
    struct calls calls = {make, with, -1, 0};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run, &calls) == 0);
    pass_time(100);
    CHECK(pthread_cancel(thread) == 0);
    pass_time(50);
    CHECK(let_go(by) == 0);
    come_back(thread, &calls);
}

static int wait_at_barrier(void* barrier) { return tollbar_barrier_arrive_and_wait(barrier); }
static int arrive_at_barrier(void* barrier) { return tollbar_barrier_arrive(barrier, 1, NULL); }
static int wait_in_group(void* self) { return tollbar_participant_arrive_and_wait(self); }
static int arrive_in_group(void* self) { return tollbar_participant_arrive(self); }
static int wait_over_udp(void* self) { return tollbar_udp_arrive_and_wait(self); }
static int arrive_over_udp(void* self) { return tollbar_udp_arrive(self); }

static int open_and_close(void* name) {
    tollbar_group* group;
    tollbar_participant* self;
    const int failed = tollbar_group_open(name, 1, NULL, &group);
    if (failed != 0) return failed;
    CHECK(tollbar_group_join(group, 0, &self) == 0);
    CHECK(tollbar_participant_leave(self) == 0);
    return tollbar_group_destroy(group);
}

static void waits(void) {
    tollbar_barrier* barrier;
    CHECK(tollbar_barrier_create(2, NULL, NULL, &barrier) == 0);
    in_waiting(wait_at_barrier, barrier, arrive_at_barrier, barrier);
    CHECK(tollbar_barrier_destroy(barrier) == 0);

    tollbar_group* group;
    tollbar_participant* members[2];
    CHECK(tollbar_group_create(2, NULL, &group) == 0);
    for (uint32_t rank = 0; rank < 2; ++rank) CHECK(tollbar_group_join(group, rank, &members[rank]) == 0);
    in_waiting(wait_in_group, members[0], arrive_in_group, members[1]);
    for (int rank = 0; rank < 2; ++rank) tollbar_participant_leave(members[rank]);
    tollbar_group_destroy(group);
}

static void waits_over_udp(void) {
    tollbar_udp_endpoint* endpoints[2];
    tollbar_udp* selves[2];
    const char* addresses[2];
    for (int rank = 0; rank < 2; ++rank) CHECK(tollbar_udp_endpoint_create("127.0.0.1:0", &endpoints[rank]) == 0);
    for (int rank = 0; rank < 2; ++rank) addresses[rank] = strdup(tollbar_udp_endpoint_address(endpoints[rank]));
    for (uint32_t rank = 0; rank < 2; ++rank) {
        const tollbar_udp_group two = {.key = {1}, .rank = rank, .ranks = 2, .addresses = addresses};
        CHECK(tollbar_udp_join(endpoints[rank], &two, NULL, &selves[rank]) == 0);
    }
    in_waiting(wait_over_udp, selves[0], arrive_over_udp, selves[1]);
    for (int rank = 0; rank < 2; ++rank) CHECK(tollbar_udp_leave(selves[rank]) == 0);
    for (int rank = 0; rank < 2; ++rank) free((char*)addresses[rank]);
}

int main(void) {
    char name[64];
    snprintf(name, sizeof name, "tollbar-cancel-%d", (int)getpid());
    setenv("TOLLBAR_TIMEOUT", "0.03", 1);
    setenv("TOLLBAR_REPORT", "/dev/null", 1);
    in_cancelled(open_and_close, name);
    waits();
    waits_over_udp();
    return verdict("cancel");
}
