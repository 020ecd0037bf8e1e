/* SPDX-License-Identifier: Apache-2.0
 * Whether every rank of MPI_COMM_WORLD has this library and the same calls come to it, found out without needing a rank
 * that may not have it. */
#ifndef TOLLBAR_DOORS_PMPI_EVERYBODY_H
#define TOLLBAR_DOORS_PMPI_EVERYBODY_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The names of the served calls, of C and of Fortran; NULL ends them. The generated hooks have them. */
extern const char* const tollbar_served_names[];

/* Right after MPI_Init; zero where this rank is not `able`. The same answer on every rank that asks: zero where some
 * rank does not, where one asks that is not able, or where the MPI does not keep names. Waits for a few seconds where a
 * rank does not ask. The first answer is that of later calls. */
int tollbar_everybody_is_here(int able);

/* Whether it was no, and this rank says what that means: at least one of those that ask. */
/* NOLINTNEXTLINE(modernize-redundant-void-arg): C needs it */
int tollbar_tells_of_no(void);

/* Once every rank has the answer yes: nothing stays with the launcher. Nothing is done where nobody has asked, or the
 * answer was no. */
/* NOLINTNEXTLINE(modernize-redundant-void-arg): C needs it */
void tollbar_everybody_knows(void);

/* Whether the first definition of the name that a program finds is in this library, and no tool ahead of it has it. */
int tollbar_comes_here(const char* name);

/* Whether all ranks of the communicator are of this rank's MPI_COMM_WORLD. Local; all ranks of the communicator get the
 * same answer. */
int tollbar_all_are_of_world(MPI_Comm comm);

#ifdef __cplusplus
}
#endif

#endif
