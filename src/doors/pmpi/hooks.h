/* SPDX-License-Identifier: Apache-2.0
 * What the C and the Fortran names of a call have in common. In an MPI that fits; `call_site` is for reports. The first
 * three are nonzero when tollbar has done it, with the MPI error code to return; else the call goes on to the next
 * definition of its name. Memory order: as the MPI's. */
#ifndef TOLLBAR_DOORS_PMPI_HOOKS_H
#define TOLLBAR_DOORS_PMPI_HOOKS_H

#include <mpi.h>

int tollbar_barrier(MPI_Comm comm, const void* call_site, int* code);
int tollbar_ibarrier(MPI_Comm comm, const void* call_site, MPI_Request* request, int* code);
int tollbar_barrier_init(MPI_Comm comm, MPI_Request* request, int* code);

/* After the next definition has made a handle, and not tollbar. */
void tollbar_barrier_init_is_passed(MPI_Comm comm, MPI_Request request);

/* Starts them, by the next definition too; returns an MPI error code. */
int tollbar_start(int count, MPI_Request* requests, const void* call_site);

/* Before the MPI frees it. */
void tollbar_request_is_freed(MPI_Request request);

#endif
