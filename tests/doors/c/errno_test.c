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
    KEEPS(tollbar_barrier_init(&barrier, 2, NULL, NULL));
    KEEPS(tollbar_barrier_init(&barrier, 0, NULL, NULL));
    KEEPS(tollbar_barrier_arrive(barrier, 1, &token));
    KEEPS(tollbar_barrier_try_wait(barrier, token));
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
    CHECK(tollbar_barrier_init(&meeting.barrier, 2, NULL, NULL) == 0);
    KEEPS(tollbar_group_create(&group, 2, &parks));
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
    KEEPS(tollbar_participant_wait_for(meeting.participants[0], soon, NULL, 0, NULL));
    for (unsigned rank = 0; rank < 2; ++rank) KEEPS(tollbar_participant_leave(meeting.participants[rank]));
    KEEPS(tollbar_group_close(group));
    tollbar_barrier_destroy(meeting.barrier);
}

static void groups_of_processes_keep_errno(void) {
    tollbar_group *group, *again;
    tollbar_participant *self, *other;
    tollbar_absent absent[3];
    size_t count;
    char name[64];
    snprintf(name, sizeof name, "tollbar-errno-%d", (int)getpid());
    KEEPS(tollbar_group_open(&group, name, 3, NULL));
    KEEPS(tollbar_group_open(&again, name, 3, NULL));
    KEEPS(tollbar_group_close(again));
    KEEPS(tollbar_group_open(&again, name, 4, NULL));
    KEEPS(tollbar_group_open(&again, "no/such/name", 4, NULL));
    KEEPS(tollbar_group_join(group, 0, &self));
    KEEPS(tollbar_group_join(group, 0, &other));
    KEEPS(tollbar_participant_arrive(self));
    for (int i = 0; i < 3; ++i) KEEPS(tollbar_participant_wait_for(self, soon, absent, 3, &count));
    KEEPS(tollbar_group_missing(group, absent, 3, &count));
    KEEPS(tollbar_participant_leave(self));
    KEEPS(tollbar_group_close(group));
}

static void plans_keep_errno(void) {
    tollbar_plan* plan;
    KEEPS(tollbar_plan_make(&plan, "mcs", 300));
    KEEPS(tollbar_plan_destroy(plan));
    KEEPS(tollbar_plan_make(&plan, "no such plan", 3));
    CHECK_FAILS(tollbar_plan_make(&plan, "no such plan", 3), EINVAL, "no such plan");
}

static void members_over_udp_keep_errno(void) {
    tollbar_udp_place* places[2];
    tollbar_udp* selves[2];
    const char* addresses[2];
    const tollbar_udp_options options = {.key = 1, .wait = TOLLBAR_WAIT_PARK};
    uint32_t missing[2];
    size_t count;
    for (int rank = 0; rank < 2; ++rank) KEEPS(tollbar_udp_place_open(&places[rank], "127.0.0.1:0"));
    for (int rank = 0; rank < 2; ++rank) addresses[rank] = strdup(tollbar_udp_place_address(places[rank]));
    for (uint32_t rank = 0; rank < 2; ++rank)
        KEEPS(tollbar_udp_join(&selves[rank], places[rank], rank, 2, addresses, &options));
    KEEPS(tollbar_udp_arrive(selves[0]));
    KEEPS(tollbar_udp_test(selves[0]));
    KEEPS(tollbar_udp_wait_for(selves[0], soon, missing, 2, &count));
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
