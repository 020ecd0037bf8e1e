/* SPDX-License-Identifier: Apache-2.0
 * How the ranks of a communicator meet for the first time, and which communicator carries their messages. */
#ifndef TOLLBAR_DOORS_PMPI_JOINING_H
#define TOLLBAR_DOORS_PMPI_JOINING_H

#include "communicator/participant.h"

#include <mpi.h>

/* A communicator's participant, with all that it runs by. */
struct tollbar_joined {
    tollbar_mpi_participant* participant; /* NULL when not joined, or left */
    struct tollbar_p2p p2p;
    MPI_Comm messages; /* our own, of the same ranks; null when the private communicator carries its messages */
    int may_be_revoked;
};

/* The first barrier of a communicator, as far as its caller knows. */
struct tollbar_first {
    const void* call_site;
    int met;   /* set where looking it up was the barrier: the ranks have met */
    int error; /* set where it has failed on this rank: the MPI's code */
};

/* Collective over MPI_COMM_WORLD: opens what carries the messages of all communicators. `level` of this rank's MPI. */
void tollbar_open_private_comm(int level);

/* At MPI_Finalize. */
void tollbar_close_private_comm(void);

/* In the first barrier of a communicator; collective, but local where a rank is of another MPI_COMM_WORLD and may not
 * have this library. Afterwards every rank of the communicator has a participant, and this was the barrier; or none has
 * and the MPI does its barriers. Returns MPI_SUCCESS, or the MPI's code on a rank that could not talk to the others. */
int tollbar_join(MPI_Comm comm, struct tollbar_joined* self, const void* call_site);

/* The MPI's code for the error that a participant's call returned. */
int tollbar_code_of(const struct tollbar_joined* self, int failed);

/* Local: the user's communicator goes, perhaps before its barriers. */
void tollbar_watch_no_more(struct tollbar_joined* self);

/* Local: gives back everything of the MPI's and of the participant's; the struct stays. */
void tollbar_leave(struct tollbar_joined* self);

#endif
