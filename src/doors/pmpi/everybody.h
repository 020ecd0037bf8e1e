/* SPDX-License-Identifier: Apache-2.0
 * Whether every rank of MPI_COMM_WORLD has this library and the same calls come to it, found out without needing a rank
 * that may not have it. */
#ifndef TOLLBAR_DOORS_PMPI_EVERYBODY_H
#define TOLLBAR_DOORS_PMPI_EVERYBODY_H

#include <mpi.h>

/* Once, right after MPI_Init. The same answer on every rank that asks: zero where some rank does not, where one asks
 * with `able` zero, or where the MPI does not keep names. Waits for a few seconds where a rank does not ask. */
int tollbar_everybody_is_here(int able);

/* After the answer yes, once every rank has it: nothing stays with the launcher. */
void tollbar_everybody_knows(void);

/* Whether all ranks of the communicator are of this rank's MPI_COMM_WORLD. Local; all ranks of the communicator get the
 * same answer. */
int tollbar_all_are_of_world(MPI_Comm comm);

#endif
