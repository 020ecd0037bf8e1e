/* SPDX-License-Identifier: Apache-2.0
 * MPI_Ibarrier and the persistent barrier as Open MPI requests. A callback of Open MPI's progress advances requests on
 * which no call waits inside us; it is registered only while some are pending. MPI_Wait and MPI_Waitall for our
 * requests wait as MPI_Barrier does: asleep when that is wise, and naming the missing. */
#ifndef TOLLBAR_DOORS_OMPI_COLL_REQUEST_H
#define TOLLBAR_DOORS_OMPI_COLL_REQUEST_H

#include "module.h"

/* Before the first request: any number of times; not while another thread is in the MPI. */
void tollbar_requests_open(void);

/* After the last communicator, before the component is unloaded. */
void tollbar_requests_close(void);

/* MPI_Ibarrier. Never blocks. Memory order: release of everything done before; a thread that sees the request
 * complete has acquired everything any rank did before it started. Any thread. */
int tollbar_request_start_one(struct tollbar_module* module, struct ompi_request_t** request);

/* MPI_Barrier_init on a communicator whose ranks have met; collective. If `ours` is zero afterwards, then on every
 * rank, and Open MPI has to give the handle. */
int tollbar_request_persistent(struct tollbar_module* module, struct ompi_request_t** request, int* ours);

/* Has a handle of Open MPI's own keep its communicator, as ours do and as Open MPI 4.1 and 5.0 do not: starting one
 * whose communicator was freed ended the program. */
void tollbar_request_keep(struct ompi_communicator_t* comm, struct ompi_request_t* request);

/* Waits for everything pending on the communicator, and completes it. Then the participant is the caller's alone. */
void tollbar_requests_finish(struct tollbar_module* module);

#endif
