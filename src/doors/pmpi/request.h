/* SPDX-License-Identifier: Apache-2.0
 * What a generalized request that stands for a barrier answers to the MPI. */
#ifndef TOLLBAR_DOORS_PMPI_REQUEST_H
#define TOLLBAR_DOORS_PMPI_REQUEST_H

#include <mpi.h>

/* An empty status, as a collective's request has. */
int tollbar_request_status(void* state, MPI_Status* status);

/* A barrier cannot be cancelled; it goes on. */
int tollbar_request_cancel(void* state, int complete);

/* Waits for the barrier and ends its request. */
void tollbar_request_wait(void* state);

#endif
