/* SPDX-License-Identifier: Apache-2.0
 * Differences between the families of MPIs: family_openmpi.c or family_mpich.c. */
#ifndef TOLLBAR_TRANSPORTS_MPI_FAMILY_H
#define TOLLBAR_TRANSPORTS_MPI_FAMILY_H

#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

/* "openmpi", "mpich" or "abi". */
extern const char* const tollbar_family;

/* Looks up the objects behind the constants; 0 when one is missing. */
int tollbar_find_constants(void);

/* Nonzero when MPI_Comm_create hangs beside an MPI_Comm_idup of the same communicator. MPI_Comm_create_group does not,
 * but fails with MPICH 4.0 and Intel MPI where there are several threads. */
extern const int tollbar_mpi_makes_one_at_a_time;

typedef void (*tollbar_function)(void);

static inline tollbar_function tollbar_find(void* where, const char* name) {
    tollbar_function function;
    void* const address = dlsym(where, name);
    memcpy(&function, &address, sizeof function); /* ISO C knows no such conversion, POSIX demands it */
    return function;
}

/* The function the program's MPI has by that name; NULL when it has none. */
static inline tollbar_function tollbar_of_program(const char* name) { return tollbar_find(RTLD_DEFAULT, name); }

#endif
