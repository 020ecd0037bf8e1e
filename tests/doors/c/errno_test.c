/* SPDX-License-Identifier: Apache-2.0 */
/* "No function changes errno", where system calls fail as a matter of course: sleeps that end early, looks at what is
 * not there, names that are taken. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <tollbar/udp.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEEPS(call) (errno = ENOTTY, (void)(call), CHECK(errno == ENOTTY))

enum { soon = 2000000, sleeps = 20 };

/* Parks: a sleep that the time ends, one that others end, and one that comes too late. */
static void barriers_keep_errno(void) {
    tollbar_barrier* barrier;
    tollbar_token token;
    KEEPS(tollbar_barrier_create(2, NULL, NULL, &barrier));
    KEEPS(tollbar_barrier_create(0, NULL, NULL, &barrier));
    KEEPS(tollbar_barrier_arrive(barrier, 1, &token));
    KEEPS(tollbar_barrier_test(barrier, token));
    for (int i = 0; i < sleeps; ++i) KEEPS(tollbar_barrier_wait_for(barrier, token, soon));
    KEEPS(tollbar_barrier_arrive(barrier, 3, NULL));
    KEEPS(tollbar_barrier_destroy(barrier));
}

static void be_late(void) { nanosleep(&(struct timespec){.tv_nsec = soon}, NULL); }

struct meeting {
    tollbar_barrier* barrier;
    tollbar_participant* participants[2];
};

static void* second(void* argument) {
    struct meeting* meeting = argument;
    for (int i = 0; i < sleeps; ++i) {
        if (i % 2 == 0) be_late();
        KEEPS(tollbar_barrier_arrive_and_wait(meeting->barrier));
        if (i % 2 == 0) be_late();
        KEEPS(tollbar_participant_arrive_and_wait(meeting->participants[1]));
    }
    return NULL;
}

static void waits_that_sleep_keep_errno(void) {
    struct meeting meeting;
    pthread_t other;
    tollbar_group* group;
    tollbar_group_options parks = {.wait = TOLLBAR_WAIT_PARK};
    CHECK(tollbar_barrier_create(2, NULL, NULL, &meeting.barrier) == 0);
    KEEPS(tollbar_group_create(2, &parks, &group));
    for (unsigned rank = 0; rank < 2; ++rank) KEEPS(tollbar_group_join(group, rank, &meeting.participants[rank]));
    pthread_create(&other, NULL, second, &meeting);
    for (int i = 0; i < sleeps; ++i) {
        if (i % 2 == 1) be_late();
        KEEPS(tollbar_barrier_arrive_and_wait(meeting.barrier));
        if (i % 2 == 1) be_late();
        KEEPS(tollbar_participant_arrive_and_wait(meeting.participants[0]));
    }
    pthread_join(other, NULL);
    KEEPS(tollbar_participant_arrive(meeting.participants[0]));
    KEEPS(tollbar_participant_wait_for(meeting.participants[0], soon));
    for (unsigned rank = 0; rank < 2; ++rank) KEEPS(tollbar_participant_leave(meeting.participants[rank]));
    KEEPS(tollbar_group_destroy(group));
    tollbar_barrier_destroy(meeting.barrier);
}

static void groups_of_processes_keep_errno(void) {
    tollbar_group *group, *again;
    tollbar_participant *self, *other;
    tollbar_missing missing[3];
    size_t count;
    char name[64];
    snprintf(name, sizeof name, "tollbar-errno-%d", (int)getpid());
    KEEPS(tollbar_group_open(name, 3, NULL, &group));
    KEEPS(tollbar_group_open(name, 3, NULL, &again));
    KEEPS(tollbar_group_destroy(again));
    KEEPS(tollbar_group_open(name, 4, NULL, &again));
    KEEPS(tollbar_group_open("no/such/name", 4, NULL, &again));
    KEEPS(tollbar_group_join(group, 0, &self));
    KEEPS(tollbar_group_join(group, 0, &other));
    KEEPS(tollbar_participant_arrive(self));
    for (int i = 0; i < 3; ++i) KEEPS(tollbar_participant_wait_for(self, soon));
    KEEPS(tollbar_participant_missing(self, missing, 3, &count));
    KEEPS(tollbar_group_missing(group, missing, 3, &count));
    KEEPS(tollbar_participant_leave(self));
    KEEPS(tollbar_group_destroy(group));
}

static void plans_keep_errno(void) {
    tollbar_plan* plan;
    KEEPS(tollbar_plan_create("mcs", 300, &plan));
    KEEPS(tollbar_plan_destroy(plan));
    KEEPS(tollbar_plan_create("no such plan", 3, &plan));
    CHECK_FAILS(tollbar_plan_create("no such plan", 3, &plan), EINVAL, "no such plan");
}

static void members_over_udp_keep_errno(void) {
    tollbar_udp_endpoint* endpoints[2];
    tollbar_udp* selves[2];
    const char* addresses[2];
    const tollbar_udp_options options = {.wait = TOLLBAR_WAIT_PARK};
    tollbar_missing missing[2];
    size_t count;
    for (int rank = 0; rank < 2; ++rank) KEEPS(tollbar_udp_endpoint_create("127.0.0.1:0", &endpoints[rank]));
    for (int rank = 0; rank < 2; ++rank) addresses[rank] = strdup(tollbar_udp_endpoint_address(endpoints[rank]));
    for (uint32_t rank = 0; rank < 2; ++rank) {
        const tollbar_udp_group two = {.key = {1}, .rank = rank, .ranks = 2, .addresses = addresses};
        KEEPS(tollbar_udp_join(endpoints[rank], &two, &options, &selves[rank]));
    }
    KEEPS(tollbar_udp_arrive(selves[0]));
    KEEPS(tollbar_udp_test(selves[0]));
    KEEPS(tollbar_udp_wait_for(selves[0], soon));
    KEEPS(tollbar_udp_missing(selves[0], missing, 2, &count));
    KEEPS(tollbar_udp_arrive(selves[1]));
    KEEPS(tollbar_udp_wait(selves[0]));
    KEEPS(tollbar_udp_wait(selves[1]));
    for (int rank = 0; rank < 2; ++rank) KEEPS(tollbar_udp_leave(selves[rank]));
    for (int rank = 0; rank < 2; ++rank) free((char*)addresses[rank]);
}

int main(void) {
    setenv("TOLLBAR_WAIT", "park", 1);
    barriers_keep_errno();
    waits_that_sleep_keep_errno();
    groups_of_processes_keep_errno();
    plans_keep_errno();
    members_over_udp_keep_errno();
    return verdict("errno");
}
