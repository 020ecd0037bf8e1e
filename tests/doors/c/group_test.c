/* SPDX-License-Identifier: Apache-2.0 */
/* Groups from C: episodes under the toll check, split phase, who is missing, names, and every error value. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ranks = 3, episodes = 300 };

static tollbar_group* group;
static int paid[2][ranks]; /* plain: the group alone orders writes and reads */
static int wrong[ranks];

static void* run(void* argument) {
    const int rank = *(int*)argument;
    tollbar_participant* self = NULL;
    wrong[rank] += tollbar_group_join(group, (uint32_t)rank, &self) != 0;
    for (int episode = 1; episode <= episodes; ++episode) {
        paid[episode % 2][rank] = episode;
        switch (episode % 3) {
            case 0: wrong[rank] += tollbar_participant_arrive_and_wait(self) != 0; break;
            case 1:
                wrong[rank] += tollbar_participant_arrive(self) != 0;
                wrong[rank] += tollbar_participant_wait(self) != 0;
                break;
            default:
                wrong[rank] += tollbar_participant_arrive(self) != 0;
                while (tollbar_participant_test(self) == EAGAIN) {
                    if (tollbar_participant_wait_for(self, 20000) == 0) break;
                }
        }
        for (int other = 0; other < ranks; ++other) wrong[rank] += paid[episode % 2][other] != episode;
        wrong[rank] += tollbar_participant_episode(self) != (uint64_t)episode;
    }
    tollbar_participant_leave(self);
    return NULL;
}

static void nobody_leaves_before_all_have_paid(void) {
    const char* plans[] = {"turnstile", "combination:2", "dissemination", "mcs:4,2", NULL};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; ++i) {
        tollbar_group_options options = {.plan = plans[i]};
        pthread_t running[ranks];
        int numbers[ranks];
        memset(paid, 0, sizeof paid);
        CHECK(tollbar_group_create(ranks, &options, &group) == 0);
        CHECK(tollbar_group_ranks(group) == ranks);
        if (plans[i] != NULL) CHECK(strcmp(tollbar_group_plan(group), plans[i]) == 0);
        for (int rank = 0; rank < ranks; ++rank) {
            numbers[rank] = rank;
            CHECK(pthread_create(&running[rank], NULL, run, &numbers[rank]) == 0);
        }
        for (int rank = 0; rank < ranks; ++rank) {
            pthread_join(running[rank], NULL);
            CHECK(wrong[rank] == 0);
        }
        tollbar_group_destroy(group);
    }
}

static void who_is_missing_is_told(void) {
    tollbar_participant *first = NULL, *second = NULL;
    tollbar_missing missing[3];
    size_t count = 99;
    CHECK(tollbar_group_create(3, NULL, &group) == 0);
    CHECK(tollbar_group_missing(group, missing, 3, &count) == 0 && count == 0);
    CHECK(tollbar_group_join(group, 0, &first) == 0);
    CHECK(tollbar_group_join(group, 1, &second) == 0);
    CHECK(tollbar_participant_arrive(first) == 0);
    CHECK(tollbar_participant_test(first) == EAGAIN);

    CHECK(tollbar_participant_missing(first, missing, 3, &count) == 0 && count == 2 && missing[0].waited_ns == 0);
    CHECK_FAILS(tollbar_participant_wait_for(first, 1000), ETIMEDOUT, "rank 2 has not joined");
    CHECK(strstr(tollbar_last_error(), "rank 1 (process ") != NULL);
    CHECK(tollbar_participant_missing(first, missing, 3, &count) == 0 && count == 2);
    CHECK(missing[0].rank == 1 && missing[0].state == TOLLBAR_RUNNING && missing[0].behind == 1);
    CHECK(missing[0].process == getpid() && missing[0].thread > 0);
    CHECK(missing[0].thread_number == -1 && missing[0].waited_ns >= 1000 && strcmp(missing[0].host, "") == 0);
    CHECK(missing[1].rank == 2 && missing[1].state == TOLLBAR_NEVER_JOINED && missing[1].process == 0);

    const int64_t waited_ns = missing[0].waited_ns;
    CHECK_FAILS(tollbar_participant_wait_for(first, 0), ETIMEDOUT, "rank 1");
    CHECK(tollbar_participant_missing(first, missing, 1, &count) == 0 && count == 2);
    CHECK(missing[0].waited_ns > waited_ns); /* since the first wait of the episode */

    missing[0].rank = missing[1].rank = 77;
    CHECK(tollbar_group_missing(group, missing, 1, &count) == 0);
    CHECK(count == 2 && missing[0].rank == 1 && missing[1].rank == 77 && missing[0].waited_ns == 0);
    CHECK(tollbar_group_missing(group, NULL, 0, &count) == 0 && count == 2);

    tollbar_participant_leave(second);
    CHECK(tollbar_group_missing(group, missing, 3, &count) == 0 && count == 2);
    CHECK(missing[0].state == TOLLBAR_LEFT);

    tollbar_participant* third = NULL;
    CHECK(tollbar_group_join(group, 1, &second) == 0); /* given up between episodes */
    CHECK(tollbar_group_join(group, 2, &third) == 0);
    CHECK(tollbar_participant_arrive(second) == 0 && tollbar_participant_arrive(third) == 0);
    CHECK(tollbar_participant_wait_for(first, INT64_MAX) == 0); /* timed out before */
    CHECK(tollbar_participant_missing(first, missing, 3, &count) == 0 && count == 0);
    CHECK(tollbar_participant_wait(second) == 0 && tollbar_participant_wait(third) == 0);
    tollbar_participant_leave(first);
    tollbar_participant_leave(second);
    tollbar_participant_leave(third);
    tollbar_group_destroy(group);
}

static void processes_meet_by_name_and_by_fork(void) {
    char name[64];
    tollbar_group_options options = {.plan = "dissemination"};
    snprintf(name, sizeof name, "c-test-%ld", (long)getpid());
    for (int by_name = 0; by_name < 2; ++by_name) {
        options.shared = !by_name;
        CHECK((by_name ? tollbar_group_open(name, 2, &options, &group) : tollbar_group_create(2, &options, &group)) ==
              0);
        const pid_t child = fork();
        tollbar_group* mine = group;
        if (child == 0 && by_name && tollbar_group_open(name, 2, NULL, &mine) != 0) _exit(1);
        tollbar_participant* self = NULL;
        int bad = tollbar_group_join(mine, child == 0 ? 1 : 0, &self) != 0;
        for (int i = 0; i < 10; ++i) bad += tollbar_participant_arrive_and_wait(self) != 0;
        if (child == 0) _exit(bad == 0 ? 0 : 2);
        int status = -1;
        CHECK(bad == 0);
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        tollbar_participant_leave(self);
        tollbar_group_destroy(group);
    }
}

static void what_a_name_belongs_to_is_checked(void) {
    char name[64], path[128];
    tollbar_group* other = NULL;
    tollbar_group_options mcs = {.plan = "mcs"};
    tollbar_group_options central = {.plan = "central"};
    snprintf(name, sizeof name, "c-test-%ld", (long)getpid());
    CHECK(tollbar_group_open(name, 2, &mcs, &group) == 0);
    CHECK_FAILS(tollbar_group_open(name, 3, NULL, &other), EEXIST, "has 2 ranks, not 3");
    CHECK_FAILS(tollbar_group_open(name, 2, &central, &other), EEXIST, "runs 'mcs', not 'central'");
    CHECK(other == NULL);
    CHECK(tollbar_group_open(name, 2, NULL, &other) == 0);
    CHECK(strcmp(tollbar_group_plan(other), "mcs") == 0);
    tollbar_group_destroy(other);
    tollbar_group_destroy(group);

    snprintf(path, sizeof path, "/dev/shm/tollbar.%ld.%s", (long)geteuid(), name);
    FILE* file = fopen(path, "w");
    if (file != NULL) {
        fputs("somebody else's data, which must not be lost", file);
        fclose(file);
        CHECK_FAILS(tollbar_group_open(name, 2, NULL, &other), EEXIST, "is not a tollbar group");
        remove(path);
    }
    CHECK_FAILS(tollbar_group_open("", 2, NULL, &other), EINVAL, "group name ''");
    CHECK_FAILS(tollbar_group_open("a/b", 2, NULL, &other), EINVAL, "group name 'a/b'");
}

static void wrong_arguments_are_named(void) {
    tollbar_group* other = NULL;
    tollbar_participant *self = NULL, *again = NULL;
    tollbar_missing missing;
    size_t count;
    tollbar_group_options options = {.plan = "fastest"};
    CHECK_FAILS(tollbar_group_create(2, &options, &other), EINVAL, "there is no algorithm 'fastest'");
    options.plan = "combination:0";
    CHECK_FAILS(tollbar_group_create(2, &options, &other), EINVAL, "a number of processors P");
    options.plan = NULL;
    options.wait = (tollbar_wait)4;
    CHECK_FAILS(tollbar_group_create(2, &options, &other), EINVAL, "TOLLBAR_WAIT_AUTO, _SPIN, _YIELD, _PARK, not 4");
    options.wait = TOLLBAR_WAIT_AUTO;
    options.reserved[3] = 1;
    CHECK_FAILS(tollbar_group_create(2, &options, &other), EINVAL, "this version of tollbar knows no such option");
    CHECK_FAILS(tollbar_group_create(0, NULL, &other), EINVAL, "1 to 16777216 ranks, not 0");
    CHECK_FAILS(tollbar_group_create(UINT32_MAX, NULL, &other), EINVAL, "not 4294967295");
    CHECK(other == NULL);
    CHECK_FAILS(tollbar_group_create(2, NULL, NULL), EINVAL, "group is NULL");
    CHECK_FAILS(tollbar_group_open("x", 2, NULL, NULL), EINVAL, "group is NULL");
    CHECK_FAILS(tollbar_group_open(NULL, 2, NULL, &other), EINVAL, "name is NULL");
    CHECK_FAILS(tollbar_group_join(NULL, 0, &self), EINVAL, "group is NULL");
    CHECK_FAILS(tollbar_group_missing(NULL, &missing, 1, &count), EINVAL, "group is NULL");
    CHECK_FAILS(tollbar_participant_arrive(NULL), EINVAL, "participant is NULL");
    CHECK_FAILS(tollbar_participant_test(NULL), EINVAL, "participant is NULL");
    CHECK_FAILS(tollbar_participant_wait(NULL), EINVAL, "participant is NULL");
    CHECK_FAILS(tollbar_participant_arrive_and_wait(NULL), EINVAL, "participant is NULL");
    CHECK_FAILS(tollbar_participant_wait_for(NULL, 0), EINVAL, "participant is NULL");
    CHECK_FAILS(tollbar_participant_missing(NULL, &missing, 1, &count), EINVAL, "participant is NULL");
    CHECK(tollbar_group_ranks(NULL) == 0 && tollbar_group_plan(NULL) == NULL && tollbar_participant_episode(NULL) == 0);
    CHECK(tollbar_group_destroy(NULL) == 0 && tollbar_participant_leave(NULL) == 0);

    CHECK(tollbar_group_create(2, NULL, &group) == 0);
    CHECK_FAILS(tollbar_group_join(group, 2, &self), EINVAL, "ranks 0..1, no rank 2");
    CHECK_FAILS(tollbar_group_join(group, 0, NULL), EINVAL, "participant is NULL");
    CHECK(tollbar_group_join(group, 0, &self) == 0);
    CHECK_FAILS(tollbar_group_join(group, 0, &again), EBUSY, "is taken by process");
    CHECK(again == NULL);
    CHECK_FAILS(tollbar_group_missing(group, &missing, 1, NULL), EINVAL, "count is NULL");
    CHECK_FAILS(tollbar_group_missing(group, NULL, 1, &count), EINVAL, "missing");
    CHECK(tollbar_participant_arrive(self) == 0);
    CHECK_FAILS(tollbar_participant_missing(self, NULL, 1, &count), EINVAL, "missing or count is NULL");
    tollbar_participant_leave(self); /* inside an episode */
    CHECK_FAILS(tollbar_group_join(group, 0, &self), EBUSY, "given up in the middle of an episode");
    tollbar_group_destroy(group);
}

int main(void) {
    unsetenv("TOLLBAR_PLAN");
    nobody_leaves_before_all_have_paid();
    who_is_missing_is_told();
    processes_meet_by_name_and_by_fork();
    what_a_name_belongs_to_is_checked();
    wrong_arguments_are_named();
    return verdict("groups from C");
}
