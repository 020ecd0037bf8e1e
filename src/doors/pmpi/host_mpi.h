/* SPDX-License-Identifier: Apache-2.0
 * The MPI of the program that this library was loaded into: which it is, whether it is the one this library was
 * compiled for, and what differs from one MPI to the next. */
#ifndef TOLLBAR_DOORS_PMPI_HOST_MPI_H
#define TOLLBAR_DOORS_PMPI_HOST_MPI_H

#include "fit.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stddef.h>

/* 1 once it is known that the hooks may do anything but pass on. */
extern _Atomic int tollbar_known_to_fit;

static inline int tollbar_fits(void) {
    /* Acquire: pairs with the release where it is found. */
    return atomic_load_explicit(&tollbar_known_to_fit, memory_order_acquire) || tollbar_find_fit();
}

/* Such as "openmpi-4.1.4", "mpich-5.0.2" or "impi-2021.19"; "" before tollbar_find_fit(). */
const char* tollbar_mpi_key(void);

typedef void (*tollbar_function)(void);

/* The function the program's MPI has by that name; NULL when it has none. */
tollbar_function tollbar_of_program(const char* name);

/* The next definition of a name after this library's own; NULL when there is none. */
tollbar_function tollbar_next(const char* name);

/* By family; one of the files host_*.c defines them. */

/* "openmpi", "mpich" or "abi". */
extern const char* const tollbar_family;

/* Looks up the objects behind the constants; 0 when one is missing. */
int tollbar_find_constants(void);

/* Has the MPI call `advance` in its own waiting and testing; 0 when it cannot. Requests are made by make_request. */
int tollbar_join_progress(void (*advance)(void));
void tollbar_leave_progress(void);

/* Nonzero when every function that completes requests is hooked, also those of Fortran. */
extern const int tollbar_hooks_suffice;

/* Nonzero when the MPI may crash over an MPI_Ibarrier of its own whose communicator is freed before its end. */
extern const int tollbar_mpi_forgets_pending;

/* A request that is over once PMPI_Grequest_complete is called for it; `freed` is called when the MPI forgets it.
 * Returns an MPI error code. */
int tollbar_make_request(int (*freed)(void*), void* state, MPI_Request* request);

#endif
