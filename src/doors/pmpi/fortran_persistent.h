/* SPDX-License-Identifier: Apache-2.0
 * The calls of persistent barriers as Fortran makes them. `name` is what the MPI calls the function that is gone on to
 * where tollbar has nothing to do; `error` may be NULL. */
#ifndef TOLLBAR_DOORS_PMPI_FORTRAN_PERSISTENT_H
#define TOLLBAR_DOORS_PMPI_FORTRAN_PERSISTENT_H

void tollbar_fortran_do_barrier_init(const char* name, int* comm, int* info, int* request, int* error);
void tollbar_fortran_do_start(const char* name, int* request, int* error, const void* call_site);
void tollbar_fortran_do_startall(const char* name, int* count, int* requests, int* error, const void* call_site);
void tollbar_fortran_do_request_free(const char* name, int* request, int* error);

#endif
