/* SPDX-License-Identifier: Apache-2.0
 * Whether every rank of MPI_COMM_WORLD has this library and the same calls come to it, found out without needing a rank
 * that may not have it. */
#ifndef TOLLBAR_DOORS_PMPI_EVERYBODY_H
#define TOLLBAR_DOORS_PMPI_EVERYBODY_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tollbar_question {
    const char* name;      /* which no other library's question has */
    const char* letters;   /* the same on every rank, else the answer is no */
    const char* otherwise; /* what a no means, for a line that is said at this verbosity */
    int said_from;
    int able; /* zero: this rank answers no */
};

/* Once, right after MPI_Init. The same answer on every rank that asks: zero where some rank does not, where one asks
 * that is not able, or where the MPI does not keep names. Waits for a few seconds where a rank does not ask. The
 * question stays where it is. */
int tollbar_everybody_is_here(const struct tollbar_question* question);

/* After the answer yes, once every rank has it: nothing stays with the launcher. */
/* NOLINTNEXTLINE(modernize-redundant-void-arg): C needs it */
void tollbar_everybody_knows(void);

/* Whether all ranks of the communicator are of this rank's MPI_COMM_WORLD. Local; all ranks of the communicator get the
 * same answer. */
int tollbar_all_are_of_world(MPI_Comm comm);

#ifdef __cplusplus
}
#endif

#endif
