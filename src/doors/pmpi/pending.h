/* SPDX-License-Identifier: Apache-2.0
 * The requests of barriers that were begun and are not over: of MPI_Ibarriers, and of persistent barriers. Each is a
 * request of the MPI, so that every function of the MPI takes it; those of MPI_Ibarriers that our own hooks have waited
 * for are used again, which makes them cheap. */
#ifndef TOLLBAR_DOORS_PMPI_PENDING_H
#define TOLLBAR_DOORS_PMPI_PENDING_H

#include "communicator.h"

struct tollbar_pending;

extern _Atomic uint32_t tollbar_pending_count;

/* Whether a hook of a completing call has anything to do. */
static inline int tollbar_anything_pending(void) {
    return atomic_load_explicit(&tollbar_pending_count, memory_order_relaxed) != 0;
}

/* Whether requests can be had from this MPI that end while it waits; asked once. */
int tollbar_requests_can_be_had(void);

/* Enters an episode and gives its request. Returns an MPI error code. Memory order: as tollbar_mpi_arrive. */
int tollbar_pending_start(struct tollbar_communicator* communicator, const void* call_site, MPI_Request* request);

/* Has the MPI do it, and gives a request of ours for the MPI's. Returns an MPI error code. */
int tollbar_pending_pass(struct tollbar_communicator* communicator, MPI_Comm comm, MPI_Request* request);

/* Ends what the MPI does for a communicator that is being freed: all ranks are at it, so that nobody waits for long. */
void tollbar_pending_finish_passed(struct tollbar_communicator* communicator);

/* Ours with that handle, which one of the two functions below must be called for; NULL when it is the MPI's own. */
struct tollbar_pending* tollbar_pending_find(MPI_Request request);

/* For whoever does not end it: the MPI's own functions find it over. Memory order: as tollbar_mpi_wait. */
void tollbar_pending_settle(MPI_Request request);

/* Waits politely, then takes it off the list. Nonzero when the handle is worth nothing then; else the MPI finds it
 * over. Memory order: as tollbar_mpi_wait. */
int tollbar_pending_wait(struct tollbar_pending* pending);

/* Nonzero when it is over, taken off, and its handle worth nothing. Memory order: as tollbar_mpi_test. */
int tollbar_pending_test(struct tollbar_pending* pending);

/* What to do after the `turn`-th look in vain at something that may take long. */
void tollbar_pass_time(long turn);

/* A whole barrier while some are pending on the same communicator. */
void tollbar_barrier_after_pending(struct tollbar_communicator* communicator, const void* call_site);

/* Ends the requests of all that are over. Called by whatever makes progress; never blocks. */
void tollbar_pending_advance(void);

/* At MPI_Finalize. */
void tollbar_pending_finish(void);

#endif
