/* SPDX-License-Identifier: Apache-2.0
 * The barriers that were begun and are not over: MPI_Ibarriers and persistent barriers. Each is a request of the MPI,
 * so that every function of the MPI takes it; those of MPI_Ibarriers that our own hooks have waited for are used again,
 * which makes them cheap. */
#ifndef TOLLBAR_DOORS_PMPI_PENDING_H
#define TOLLBAR_DOORS_PMPI_PENDING_H

#include "joined.h"

struct tollbar_pending {
    MPI_Request request;
    struct tollbar_joined* joined; /* whose barrier it is; NULL while nobody uses it */
    uint64_t episode;
    MPI_Request passed; /* the MPI's, for a barrier that the MPI does */
    enum { done_by_us, done_by_mpi, found_over } kind;
    void (*end)(struct tollbar_pending*); /* has the MPI find the request over */
    int claimed;                          /* a hook waits for it and ends it; progress does not */
    struct tollbar_pending* next;
};

/* Nonzero when several threads may be in the MPI at once; set before anything else here is used. */
extern int tollbar_threaded;

extern _Atomic uint32_t tollbar_pending_count;

/* Whether a hook of a completing call has anything to do. */
static inline int tollbar_anything_pending(void) {
    return atomic_load_explicit(&tollbar_pending_count, memory_order_relaxed) != 0;
}

/* Whether requests can be had from this MPI that end while it waits; asked once. */
int tollbar_requests_can_be_had(void);

/* Enters an episode and gives its request. Returns an MPI error code. Memory order: as tollbar_mpi_arrive. */
int tollbar_pending_start(struct tollbar_joined* joined, const void* call_site, MPI_Request* request);

/* Has the MPI do it, and gives a request of ours for the MPI's. Returns an MPI error code. */
int tollbar_pending_pass(struct tollbar_joined* joined, MPI_Comm comm, MPI_Request* request);

/* Ends what the MPI does for a communicator that is being freed: all ranks are at it, so that nobody waits for long. */
void tollbar_pending_finish_passed(const struct tollbar_joined* joined);

/* Ours with that handle, which one of the two functions below must be called for; NULL when it is the MPI's own. */
struct tollbar_pending* tollbar_pending_find(MPI_Request request);

/* Waits politely, then takes it off the list. Nonzero when the handle is worth nothing then; else the MPI finds it
 * over. Memory order: as tollbar_mpi_wait. */
int tollbar_pending_wait(struct tollbar_pending* pending);

/* Nonzero when it is over, taken off, and its handle worth nothing. Memory order: as tollbar_mpi_test. */
int tollbar_pending_test(struct tollbar_pending* pending);

/* For whoever does not end it: the MPI's own functions find it over. Memory order: as tollbar_mpi_wait. */
void tollbar_pending_settle(MPI_Request request);

/* A whole barrier while some are pending on the same communicator. */
void tollbar_barrier_after_pending(struct tollbar_joined* joined, const void* call_site);

/* Ends the requests of all that are over. Called by whatever makes progress; never blocks. */
void tollbar_pending_advance(void);

/* At MPI_Finalize. */
void tollbar_pending_finish(void);

/* The lock guards all that is pending, the persistent barriers, and the participants with pending requests. Held for a
 * few instructions, or while the MPI tests or ends a request; the progress that this makes does not wait for it.
 * Memory order: acquire; pairs with tollbar_release_lock(). */
void tollbar_take_lock(void);

/* Memory order: release; pairs with the one above. */
void tollbar_release_lock(void);

/* Under the lock: enters an episode for a request that has an end. Memory order: as tollbar_mpi_arrive. */
void tollbar_pending_begin(struct tollbar_pending* pending, struct tollbar_joined* joined, const void* call_site);

/* Under the lock: nonzero when it is over, taken off and ended. Memory order: as tollbar_mpi_test. */
int tollbar_pending_end_if_over(struct tollbar_pending* pending);

#endif
