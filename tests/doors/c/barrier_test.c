/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers from C: phases under the toll check, tokens, time-outs, drops, completions, and every error value. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <errno.h>
#include <pthread.h>

enum { threads = 4, phases = 500 };

static tollbar_barrier* barrier;
static int paid[2][threads]; /* plain: the barrier alone orders writes and reads */
static int completions;
static int wrong[threads];

static void complete(void* context) { ++*(int*)context; }

static void* run(void* argument) {
    const int rank = *(int*)argument;
    for (int phase = 1; phase <= phases; ++phase) {
        tollbar_token token;
        paid[phase % 2][rank] = phase;
        switch (phase % 3) {
            case 0: wrong[rank] += tollbar_barrier_arrive_and_wait(barrier) != 0; break;
            case 1:
                wrong[rank] += tollbar_barrier_arrive(barrier, 1, &token) != 0;
                wrong[rank] += tollbar_barrier_wait(barrier, token) != 0;
                break;
            default:
                wrong[rank] += tollbar_barrier_arrive(barrier, 1, &token) != 0;
                while (tollbar_barrier_wait_for(barrier, token, 20000) == ETIMEDOUT) {
                }
                wrong[rank] += tollbar_barrier_test(barrier, token) != 0;
        }
        for (int other = 0; other < threads; ++other) wrong[rank] += paid[phase % 2][other] != phase;
        wrong[rank] += completions != phase;
    }
    return NULL;
}

static void nobody_leaves_before_all_have_paid_and_the_completion_ran(void) {
    pthread_t running[threads];
    int ranks[threads];
    CHECK(tollbar_barrier_create(threads, complete, &completions, &barrier) == 0);
    for (int rank = 0; rank < threads; ++rank) {
        ranks[rank] = rank;
        CHECK(pthread_create(&running[rank], NULL, run, &ranks[rank]) == 0);
    }
    for (int rank = 0; rank < threads; ++rank) {
        pthread_join(running[rank], NULL);
        CHECK(wrong[rank] == 0);
    }
    CHECK(completions == phases);
    tollbar_barrier_destroy(barrier);
}

static void a_timed_wait_may_be_repeated(void) {
    tollbar_token token;
    CHECK(tollbar_barrier_create(2, NULL, NULL, &barrier) == 0);
    CHECK(tollbar_barrier_arrive(barrier, 1, &token) == 0);
    CHECK(tollbar_barrier_test(barrier, token) == EAGAIN);
    CHECK_FAILS(tollbar_barrier_wait_for(barrier, token, 1000000), ETIMEDOUT, "time ran out");
    CHECK_FAILS(tollbar_barrier_wait_for(barrier, token, 0), ETIMEDOUT, "time ran out");
    CHECK_FAILS(tollbar_barrier_wait_for(barrier, token, INT64_MIN), ETIMEDOUT, "time ran out");
    CHECK(tollbar_barrier_arrive(barrier, 1, NULL) == 0);
    CHECK(tollbar_barrier_wait_for(barrier, token, INT64_MAX) == 0);
    CHECK(tollbar_barrier_wait(barrier, token) == 0); /* a token is a value */
    tollbar_barrier_destroy(barrier);
}

static void who_drops_is_not_expected_again(void) {
    int count = 0;
    CHECK(tollbar_barrier_create(3, complete, &count, &barrier) == 0);
    CHECK(tollbar_barrier_arrive_and_drop(barrier) == 0);
    CHECK(tollbar_barrier_arrive(barrier, 2, NULL) == 0);
    CHECK(count == 1);
    CHECK(tollbar_barrier_arrive(barrier, 1, NULL) == 0);
    CHECK(tollbar_barrier_arrive_and_drop(barrier) == 0);
    CHECK(count == 2);
    CHECK(tollbar_barrier_arrive_and_wait(barrier) == 0); /* alone now */
    CHECK(count == 3);
    tollbar_barrier_destroy(barrier);
}

static void wrong_arguments_are_named(void) {
    tollbar_token token = {0};
    tollbar_barrier* untouched = NULL;
    CHECK_FAILS(tollbar_barrier_create(0, NULL, NULL, &untouched), EINVAL, "1 to 2147483647 arrivals, not 0");
    CHECK_FAILS(tollbar_barrier_create((size_t)TOLLBAR_BARRIER_MAX + 1, NULL, NULL, &untouched), EINVAL,
                "not 2147483648");
    CHECK_FAILS(tollbar_barrier_create(SIZE_MAX, NULL, NULL, &untouched), EINVAL, "not 18446744073709551615");
    CHECK(untouched == NULL);
    CHECK_FAILS(tollbar_barrier_create(1, NULL, NULL, NULL), EINVAL, "barrier is NULL");
    CHECK_FAILS(tollbar_barrier_arrive(NULL, 1, &token), EINVAL, "barrier is NULL");
    CHECK_FAILS(tollbar_barrier_arrive_and_wait(NULL), EINVAL, "barrier is NULL");
    CHECK_FAILS(tollbar_barrier_arrive_and_drop(NULL), EINVAL, "barrier is NULL");
    CHECK_FAILS(tollbar_barrier_wait(NULL, token), EINVAL, "barrier is NULL");
    CHECK_FAILS(tollbar_barrier_test(NULL, token), EINVAL, "barrier is NULL");
    CHECK_FAILS(tollbar_barrier_wait_for(NULL, token, 0), EINVAL, "barrier is NULL");
    tollbar_barrier_destroy(NULL);

    CHECK(tollbar_barrier_create(TOLLBAR_BARRIER_MAX, NULL, NULL, &barrier) == 0);
    tollbar_barrier_destroy(barrier);
    CHECK(tollbar_barrier_create(3, NULL, NULL, &barrier) == 0);
    CHECK_FAILS(tollbar_barrier_arrive(barrier, 0, &token), EINVAL, "takes 1 to 3 arrivals at a time, not 0");
    CHECK_FAILS(tollbar_barrier_arrive(barrier, 4, &token), EINVAL, "takes 1 to 3 arrivals at a time, not 4");
    CHECK(tollbar_barrier_arrive(barrier, 3, &token) == 0); /* none of these arrived */
    CHECK(tollbar_barrier_test(barrier, token) == 0);
    tollbar_barrier_destroy(barrier);
}

static void every_error_has_words(void) {
    CHECK(strcmp(tollbar_strerror(0), "success") == 0);
    for (int error = -1; error < 200; ++error) CHECK(strlen(tollbar_strerror(error)) > 0);
    CHECK(strcmp(tollbar_strerror(-1), "unknown error") == 0);
    CHECK(strcmp(tollbar_strerror(EINVAL), tollbar_strerror(ETIMEDOUT)) != 0);
    /* One value, several doors: a taken rank of tollbar.h, an open episode of shmem.h and nic.h. */
    CHECK(strstr(tollbar_strerror(EBUSY), "rank") != NULL && strstr(tollbar_strerror(EBUSY), "episode") != NULL);
    /* The name of a group of tollbar.h, a NIC's member of nic.h. */
    CHECK(strstr(tollbar_strerror(EEXIST), "name") != NULL && strstr(tollbar_strerror(EEXIST), "member") != NULL);
}

static void* last_error_is_empty(void* argument) {
    *(int*)argument = strcmp(tollbar_last_error(), "") == 0;
    return NULL;
}

static void each_thread_has_its_own_last_error(void) {
    pthread_t other;
    int empty = 0;
    CHECK_FAILS(tollbar_barrier_create(1, NULL, NULL, NULL), EINVAL, "NULL");
    CHECK(pthread_create(&other, NULL, last_error_is_empty, &empty) == 0);
    pthread_join(other, NULL);
    CHECK(empty);
}

int main(void) {
    CHECK(strcmp(tollbar_last_error(), "") == 0);
    nobody_leaves_before_all_have_paid_and_the_completion_ran();
    a_timed_wait_may_be_repeated();
    who_drops_is_not_expected_again();
    wrong_arguments_are_named();
    every_error_has_words();
    each_thread_has_its_own_last_error();
    return verdict("barriers from C");
}
