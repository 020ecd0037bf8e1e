/* SPDX-License-Identifier: Apache-2.0
 * What the C and the Fortran names of a call have in common. Handles are words here: in the wrong MPI they are of
 * another size, and are passed on whole. */
#ifndef TOLLBAR_DOORS_PMPI_HOOKS_H
#define TOLLBAR_DOORS_PMPI_HOOKS_H

#include <mpi.h>
#include <stdint.h>

typedef uintptr_t tollbar_word;

/* Declares a hook: programs see it by that name. */
#define TOLLBAR_NAMED(name) __asm__(#name) __attribute__((visibility("default")))

/* Declares what a hook goes on to, which an MPI may lack. */
#define TOLLBAR_PASSED_TO(name) __asm__(#name) __attribute__((weak))

/* In an MPI that fits; `call_site` is for reports. Return MPI error codes. Memory order: as MPI_Barrier. */
int tollbar_barrier(MPI_Comm comm, const void* call_site);
int tollbar_ibarrier(MPI_Comm comm, const void* call_site, MPI_Request* request);
int tollbar_barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request);
int tollbar_start(int count, const MPI_Request* requests, const void* call_site);
int tollbar_request_free(MPI_Request* request);

#endif
