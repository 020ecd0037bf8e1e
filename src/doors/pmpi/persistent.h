/* SPDX-License-Identifier: Apache-2.0
 * Persistent barriers. The handle is a persistent request of the MPI's, for an empty message from this process to
 * itself: MPI_Start enters a barrier, whose end sends the message, and every function of the MPI may wait for it.
 * Handles may be started in another order on each rank, so each has a participant, and counts episodes, of its own. */
#ifndef TOLLBAR_DOORS_PMPI_PERSISTENT_H
#define TOLLBAR_DOORS_PMPI_PERSISTENT_H

#include "request.h"

extern _Atomic uint32_t tollbar_handles;

/* Whether MPI_Start and MPI_Request_free have anything to do. */
static inline int tollbar_any_handles(void) {
    return atomic_load_explicit(&tollbar_handles, memory_order_relaxed) != 0;
}

/* Collective: a handle for a communicator that has joined. Zero, on every rank alike, when the MPI has to give it; else
 * `code` is what MPI_Barrier_init returns. */
int tollbar_persistent_init(MPI_Comm comm, struct tollbar_joined* joined, MPI_Request* request, int* code);

/* A handle of the MPI's own, of an MPI that forgets what is under way when the communicator is freed. */
void tollbar_persistent_pass(const struct tollbar_joined* joined, MPI_Request request);

/* Waits for what is under way by such handles of a communicator that is being freed; all ranks are at it. */
void tollbar_persistent_finish_passed(const struct tollbar_joined* joined);

/* Nonzero for one of ours that was started and is not over: it is not to be started again yet. */
int tollbar_persistent_under_way(MPI_Request request);

/* The MPI has started it: enters an episode, if it is one of ours. Memory order: as tollbar_mpi_arrive. */
void tollbar_persistent_start(MPI_Request request, const void* call_site);

/* The user is about to free it. What belongs to it goes when its barrier is over, and may be all that kept a freed
 * communicator. */
void tollbar_persistent_free(MPI_Request request);

/* How many barriers were started. */
uint64_t tollbar_persistent_count(void);

/* At MPI_Finalize; the user may have left some. */
void tollbar_persistent_finish(void);

#endif
