/* SPDX-License-Identifier: Apache-2.0
 * A participant of this process, with all that it runs by: one for each communicator that tollbar serves, and one for
 * each persistent barrier. */
#ifndef TOLLBAR_DOORS_PMPI_JOINED_H
#define TOLLBAR_DOORS_PMPI_JOINED_H

#include "communicator/participant.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

struct tollbar_joined {
    tollbar_mpi_participant* participant; /* NULL: not joined, or left */
    MPI_Comm
        messages; /* the same ranks, for nobody's messages but ours; null when the private communicator carries them */
    struct tollbar_p2p p2p;
    int splits_phases;        /* MPI_Ibarrier can be ours too; the same on every rank, as the next one */
    int persists;             /* so can MPI_Barrier_init */
    _Atomic uint32_t pending; /* barriers that were begun and are not over */
    _Atomic uint32_t handles; /* persistent barriers that were set up through it; they need its messages */
    int waits;                /* somebody waits in the participant, so nobody else may look at it */
};

#endif
