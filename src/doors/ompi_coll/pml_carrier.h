/* SPDX-License-Identifier: Apache-2.0
 * The carrier inside Open MPI: messages of its point-to-point layer (the PML) on the communicator itself, with tags
 * that no user can give. */
#ifndef TOLLBAR_DOORS_OMPI_COLL_PML_CARRIER_H
#define TOLLBAR_DOORS_OMPI_COLL_PML_CARRIER_H

#include "transports/mpi/carrier.h"

#include <ompi_config.h>

#include <ompi/communicator/communicator.h>

/* Its state is the communicator. */
struct tollbar_carrier tollbar_pml_carrier(struct ompi_communicator_t* comm);

/* One empty message. 0, or an Open MPI error code. */
int tollbar_pml_send(struct ompi_communicator_t* comm, int peer, int tag, struct ompi_request_t** request);
int tollbar_pml_receive(struct ompi_communicator_t* comm, int peer, int tag, struct ompi_request_t** request);

/* Nonzero when it is over (then it is freed, and NULL); NULL counts as over. Memory order: acquire of what the sender
 * did before, when nonzero. */
int tollbar_pml_over(struct ompi_request_t** request);

/* Gives up a message that may be under way. */
void tollbar_pml_abandon(struct ompi_request_t** request);

#endif
