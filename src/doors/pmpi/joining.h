/* SPDX-License-Identifier: Apache-2.0
 * How the ranks of a communicator meet for the first time, and by whose messages. */
#ifndef TOLLBAR_DOORS_PMPI_JOINING_H
#define TOLLBAR_DOORS_PMPI_JOINING_H

#include "request.h"

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

/* Collective; local where a rank is of another MPI_COMM_WORLD and may not have this library. Afterwards every rank of
 * the communicator has a participant, or none has and the MPI does its barriers. Where they have one this was a
 * barrier: the program's first, unless `first` has no call site. Returns MPI_SUCCESS, or the MPI's code on a rank that
 * could not talk to the others. */
int tollbar_join(MPI_Comm comm, struct tollbar_joined* self, const struct tollbar_first* first);

/* Collective, on a communicator that has joined. Gives its ranks another participant, whose episodes are its own, or
 * none on any rank. The communicator has to be kept as long as that is. Returns as tollbar_join(). */
int tollbar_join_again(MPI_Comm comm, const struct tollbar_joined* joined, struct tollbar_joined* self);

/* The code of MPI of what a participant's call returned (0: nothing failed). */
int tollbar_code_of(const struct tollbar_joined* self, int failed);

/* Local: the user's communicator goes, perhaps before its barriers. */
void tollbar_watch_no_more(struct tollbar_joined* self);

/* Local: gives back everything of the MPI's and of the participant's; the struct stays. */
void tollbar_leave(struct tollbar_joined* self);

#endif
