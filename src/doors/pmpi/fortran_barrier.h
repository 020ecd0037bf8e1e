/* SPDX-License-Identifier: Apache-2.0
 * MPI_Barrier and MPI_Ibarrier as Fortran makes them. `name` is what the MPI calls the function that is gone on to
 * where tollbar does not fit; `error` may be NULL. */
#ifndef TOLLBAR_DOORS_PMPI_FORTRAN_BARRIER_H
#define TOLLBAR_DOORS_PMPI_FORTRAN_BARRIER_H

void tollbar_fortran_do_barrier(const char* name, int* comm, int* error, const void* call_site);
void tollbar_fortran_do_ibarrier(const char* name, int* comm, int* request, int* error, const void* call_site);

#endif
