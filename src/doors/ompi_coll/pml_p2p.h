/* SPDX-License-Identifier: Apache-2.0
 * The point-to-point calls inside Open MPI: messages of its point-to-point layer (the PML) on the communicator itself,
 * with tags that no user can give. */
#ifndef TOLLBAR_DOORS_OMPI_COLL_PML_P2P_H
#define TOLLBAR_DOORS_OMPI_COLL_PML_P2P_H

#include "transports/mpi/p2p.h"

#include <ompi_config.h>

#include <ompi/communicator/communicator.h>

struct tollbar_pml_state {
    struct ompi_communicator_t* comm;
    int error; /* the first that a call for a message met, as MPI's code; MPI_SUCCESS when none did */
};

/* `state` outlives what is made with it. */
struct tollbar_p2p tollbar_pml_p2p(struct tollbar_pml_state* state, struct ompi_communicator_t* comm);

#endif
