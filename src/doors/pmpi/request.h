/* SPDX-License-Identifier: Apache-2.0
 * MPI_Ibarriers and persistent barriers as requests of the MPI, so that every function of the MPI takes them. Those of
 * MPI_Ibarriers that our own hooks have waited for are used again, which makes them cheap. */
#ifndef TOLLBAR_DOORS_PMPI_REQUEST_H
#define TOLLBAR_DOORS_PMPI_REQUEST_H

#include "communicator/pending.h"

#include <mpi.h>
#include <stdatomic.h>

/* A participant of this process, with all that it runs by: one for each communicator that tollbar serves, and one for
 * each persistent barrier. */
struct tollbar_joined {
    struct tollbar_row row; /* first; its participant is NULL when not joined, or left */
    MPI_Comm messages;      /* our own, of the same ranks; null when the private communicator carries its messages */
    struct tollbar_p2p p2p;
    int may_be_revoked;
    int splits_phases;        /* MPI_Ibarrier can be ours too; the same on every rank, as the next one */
    int persists;             /* so can MPI_Barrier_init */
    _Atomic uint32_t handles; /* persistent barriers that were set up through it; they need its messages */
};

struct tollbar_request {
    struct tollbar_pending pending; /* first; its row is the one of a tollbar_joined */
    MPI_Request handle;
    MPI_Request passed; /* the MPI's, for a barrier that the MPI does; null once that is over */
};

/* Whether requests can be had from this MPI that end while it waits; asked once. */
int tollbar_requests_can_be_had(void);

/* Enters an episode and gives its request. Returns an MPI error code. Memory order: as tollbar_mpi_arrive. */
int tollbar_request_start(struct tollbar_joined* joined, const void* call_site, MPI_Request* handle);

/* Has the MPI do it, and gives a request of ours for the MPI's. Returns an MPI error code. */
int tollbar_request_pass(struct tollbar_joined* joined, MPI_Comm comm, MPI_Request* handle);

/* Ends what the MPI does for a communicator that is being freed: all ranks are at it, so that nobody waits for long. */
void tollbar_requests_finish_passed(const struct tollbar_joined* joined);

/* Waits politely, if it is one of ours. Nonzero when the handle is worth nothing then; else the MPI finds it over.
 * Memory order: as tollbar_mpi_wait. */
int tollbar_request_wait(MPI_Request handle);

/* Nonzero when it is one of ours, over, and its handle worth nothing. Memory order: as tollbar_mpi_test. */
int tollbar_request_test(MPI_Request handle);

/* As wait, for whoever does not end it: the MPI's own functions find it over. */
void tollbar_request_settle(MPI_Request handle);

/* A whole barrier while some are pending on the same communicator. */
void tollbar_barrier_after_pending(struct tollbar_joined* joined, const void* call_site);

/* Under the lock: enters an episode for a request that has an end. Memory order: as tollbar_mpi_arrive. */
void tollbar_request_begin(struct tollbar_request* request, struct tollbar_joined* joined, const void* call_site);

/* At MPI_Finalize. */
void tollbar_requests_finish(void);

#endif
