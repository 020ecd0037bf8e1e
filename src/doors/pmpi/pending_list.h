/* SPDX-License-Identifier: Apache-2.0
 * The one list of all barriers of the process that were begun and are not over, and the lock that guards it. */
#ifndef TOLLBAR_DOORS_PMPI_PENDING_LIST_H
#define TOLLBAR_DOORS_PMPI_PENDING_LIST_H

#include "pending.h"

struct tollbar_pending {
    MPI_Request request;
    struct tollbar_communicator* communicator; /* NULL while nobody uses it */
    uint64_t episode;
    MPI_Request passed; /* the MPI's, for a barrier that the MPI does */
    enum { done_by_us, done_by_mpi, found_over } kind;
    int persistent; /* the request is a persistent one, see persistent.h */
    int claimed;    /* a hook waits for it and ends it; progress does not */
    struct tollbar_pending* next;
};

/* Under the lock; oldest first. */
extern struct tollbar_pending* tollbar_pending_list;

/* Guards the list, the persistent handles, and the participants of communicators with pending requests. Held for a few
 * instructions, or while the MPI tests or ends a request; the progress that this makes does not wait for the lock.
 * Memory order: acquire; pairs with tollbar_release_lock(). */
void tollbar_take_lock(void);

/* Nonzero when it was taken. Memory order: acquire then; pairs with tollbar_release_lock(). */
int tollbar_try_lock(void);

/* Memory order: release; pairs with the two above. */
void tollbar_release_lock(void);

/* Under the lock, its communicator set. */
void tollbar_put_on(struct tollbar_pending* one);

/* Under the lock. Memory order: release: what was done with the participant is before whoever finds that nothing is
 * pending. */
void tollbar_take_off(struct tollbar_pending* one);

/* Under the lock: with that handle; NULL when it is none of ours. */
struct tollbar_pending* tollbar_listed(MPI_Request request);

/* Under the lock. Memory order: as tollbar_mpi_test. */
int tollbar_is_over(struct tollbar_pending* one);

/* Under the lock, for one that is over: takes it off. Nonzero when its handle is worth nothing from now on: the MPI was
 * told nothing, and the request can stand for another barrier. Else the MPI finds the request over. */
int tollbar_end_quietly(struct tollbar_pending* one);

#endif
