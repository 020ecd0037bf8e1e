/* SPDX-License-Identifier: Apache-2.0
 * What the PEs of these tests check with: one line for each failure, and the job fails. */
#ifndef TOLLBAR_TESTS_SHMEM_CHECK_H
#define TOLLBAR_TESTS_SHMEM_CHECK_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tollbar/shmem.h>

static int failures;

#define CHECK(holds) check((holds) != 0, #holds, __LINE__)
#define CHECK_IS(call, error) check_is((call), (error), #call, __LINE__)

/* The thread's last line has that in it. */
#define CHECK_SAID(words) \
    check(strstr(tollbar_shmem_last_error(), (words)) != NULL, tollbar_shmem_last_error(), __LINE__)

static inline void check(int holds, const char* what, int line) {
    if (holds) return;
    ++failures;
    fprintf(stderr, "PE %d, line %d: %s\n", shmem_my_pe(), line, what);
}

static inline void check_is(int error, int expected, const char* what, int line) {
    if (error == expected) return;
    ++failures;
    fprintf(stderr, "PE %d, line %d: %s gave %d, not %d: %s\n", shmem_my_pe(), line, what, error, expected,
            tollbar_shmem_last_error());
}

static inline tollbar_shmem_barrier* made(const tollbar_shmem_group* group, const char* plan,
                                          tollbar_shmem_signals signals) {
    tollbar_shmem_barrier* barrier = NULL;
    tollbar_shmem_options options;
    memset(&options, 0, sizeof options);
    options.plan = plan;
    options.signals = signals;
    CHECK_IS(tollbar_shmem_barrier_create(group, &options, &barrier), 0);
    return barrier;
}

static inline void meet(tollbar_shmem_barrier* barrier) { CHECK_IS(tollbar_shmem_barrier_post_and_wait(barrier), 0); }

/* Ends the job, and with it a job that failed. */
static inline int conclude(void) {
    const int failed = failures;
    if (failed != 0) shmem_global_exit(1);
    shmem_finalize();
    return 0;
}

#endif
