/* SPDX-License-Identifier: Apache-2.0
 * MPI_Ibarrier and the persistent barrier as Open MPI requests, and the one place that moves those on which nobody
 * waits inside us: a callback of Open MPI's progress, registered only while some are pending. */
#ifndef TOLLBAR_DOORS_OMPI_COLL_REQUEST_H
#define TOLLBAR_DOORS_OMPI_COLL_REQUEST_H

#include "module.h"

/* After the last communicator. */
void tollbar_requests_close(void);

/* MPI_Ibarrier. Never blocks. Memory order: release of everything done before; whoever sees the request complete has
 * acquired everything any rank did before it started. Any thread. */
int tollbar_request_start_one(struct tollbar_module* module, struct ompi_request_t** request);

/* MPI_Barrier_init on a communicator whose ranks have met. */
int tollbar_request_persistent(struct tollbar_module* module, struct ompi_request_t** request);

/* Waits for everything pending on the communicator, and completes it. Then the participant is the caller's alone. */
void tollbar_requests_finish(struct tollbar_module* module);

/* Whether the handle is one of ours, and not over yet. */
bool tollbar_request_is_pending(const struct ompi_request_t* handle);

/* Waits for a pending one of ours. Only where one thread at a time is in the MPI. Memory order: acquire, see above. */
void tollbar_request_finish(struct ompi_request_t* handle);

#endif
