/* SPDX-License-Identifier: Apache-2.0
 * Barriers that are none, for whoever checks barriers: built with one of NOTHING, ROUND_SHORT and RESET_LATE, or as the
 * right one that the last of them would be. */
#include "../../include/tollbar/toll.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { most = 64 };

struct barrier {
    unsigned ranks;
    atomic_uint arrived;
    atomic_ulong released;
    unsigned long episode[most]; /* of each rank, its own */
    atomic_ulong heard[most][8]; /* by each rank, in each round */
};

void* tollbar_checked_create(unsigned ranks) {
    struct barrier* self = calloc(1, sizeof *self);
    if (self != NULL) self->ranks = ranks;
    return self;
}

void tollbar_checked_destroy(void* barrier) { free(barrier); }

#ifdef ROUND_SHORT
/* Dissemination without its last round. */
static void meet(struct barrier* self, unsigned rank, unsigned long episode) {
    unsigned round = 0;
    for (unsigned stride = 1; 2 * stride < self->ranks; stride *= 2, ++round) {
        atomic_store_explicit(&self->heard[(rank + stride) % self->ranks][round], episode, memory_order_release);
        while (atomic_load_explicit(&self->heard[rank][round], memory_order_acquire) < episode) sched_yield();
    }
}
#elif defined(NOTHING)
static void meet(struct barrier* self, unsigned rank, unsigned long episode) { (void)self, (void)rank, (void)episode; }
#else
/* The textbook's counter. Reset after the release it forgets whoever has come back by then. */
static void meet(struct barrier* self, unsigned rank, unsigned long episode) {
    (void)rank;
    if (atomic_fetch_add(&self->arrived, 1) + 1 == self->ranks) {
#    ifndef RESET_LATE
        atomic_store(&self->arrived, 0);
#    endif
        atomic_store(&self->released, episode);
#    ifdef RESET_LATE
        for (int turn = 0; turn < 64; ++turn) sched_yield();
        atomic_store(&self->arrived, 0);
#    endif
    }
    while (atomic_load(&self->released) < episode) sched_yield();
}
#endif

void tollbar_checked_arrive_and_wait(void* barrier, unsigned rank) {
    struct barrier* self = barrier;
    meet(self, rank, ++self->episode[rank]);
}
