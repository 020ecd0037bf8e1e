/* SPDX-License-Identifier: Apache-2.0
 * MPI_Ibarrier and the persistent barrier as Open MPI requests. Those on which nobody waits inside us are advanced by a
 * callback of Open MPI's progress, registered only while some are pending. MPI_Wait and MPI_Waitall for them wait as
 * MPI_Barrier does: asleep when that is wise, and naming the missing. */
#ifndef TOLLBAR_DOORS_OMPI_COLL_REQUEST_H
#define TOLLBAR_DOORS_OMPI_COLL_REQUEST_H

#include "module.h"

/* Before the first request: any number of times; not while another thread is in the MPI. */
void tollbar_requests_open(void);

/* After the last communicator, before the component is unloaded. */
void tollbar_requests_close(void);

/* MPI_Ibarrier. Never blocks. Memory order: release of everything done before; whoever sees the request complete has
 * acquired everything any rank did before it started. Any thread. */
int tollbar_request_start_one(struct tollbar_module* module, struct ompi_request_t** request);

/* MPI_Barrier_init on a communicator whose ranks have met; collective. Where `ours` is zero afterwards, on every rank,
 * Open MPI has to give it. */
int tollbar_request_persistent(struct tollbar_module* module, struct ompi_request_t** request, int* ours);

/* Has a handle of Open MPI's own keep its communicator, as ours do and as Open MPI 4.1 and 5.0 do not: starting one
 * whose communicator was freed ended the program. */
void tollbar_request_keep(struct ompi_communicator_t* comm, struct ompi_request_t* request);

/* Waits for everything pending on the communicator, and completes it. Then the participant is the caller's alone. */
void tollbar_requests_finish(struct tollbar_module* module);

#endif
