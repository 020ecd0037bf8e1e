/* SPDX-License-Identifier: Apache-2.0
 * What differs from one family of MPIs to the next; family_openmpi.c or family_mpich.c. */
#ifndef TOLLBAR_DOORS_PMPI_FAMILY_H
#define TOLLBAR_DOORS_PMPI_FAMILY_H

#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

/* "openmpi", "mpich" or "abi". */
extern const char* const tollbar_family;

/* Looks up the objects behind the constants; 0 when one is missing. */
int tollbar_find_constants(void);

/* Has the MPI call `advance`, or for what it waits for `wait`, with the state of a request, in its own waiting and
 * testing; 0 when it cannot. */
int tollbar_join_progress(void (*advance)(void), void (*wait)(void* state));
void tollbar_leave_progress(void);

/* Nonzero when every function that completes requests is hooked, also those of Fortran. */
extern const int tollbar_hooks_suffice;

/* Nonzero when the MPI may crash over an MPI_Ibarrier of its own whose communicator is freed before its end. */
extern const int tollbar_mpi_forgets_pending;

/* Nonzero when MPI_Comm_create hangs beside an MPI_Comm_idup of the same communicator. MPI_Comm_create_group does not,
 * but fails with MPICH 4.0 and Intel MPI where there are several threads. */
extern const int tollbar_mpi_makes_one_at_a_time;

/* A request that is over once PMPI_Grequest_complete is called for it, as PMPI_Grequest_start makes it. */
int tollbar_make_request(MPI_Grequest_query_function* status, MPI_Grequest_free_function* freed,
                         MPI_Grequest_cancel_function* cancel, void* state, MPI_Request* request);

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
