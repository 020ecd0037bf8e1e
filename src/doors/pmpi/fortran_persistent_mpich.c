/* SPDX-License-Identifier: Apache-2.0
 * The mpi_f08 names of MPICH and its kin for persistent barriers; mpif.h and `use mpi` come by the C names. */
#include "fortran_persistent.h"
#include "hooks.h"

void mpi_barrier_init_f08_(int* comm, int* info, int* request, int* error) TOLLBAR_NAMED(mpi_barrier_init_f08_);
void mpi_start_f08_(int* request, int* error) TOLLBAR_NAMED(mpi_start_f08_);
void mpi_startall_f08_(int* count, int* requests, int* error) TOLLBAR_NAMED(mpi_startall_f08_);
void mpi_request_free_f08_(int* request, int* error) TOLLBAR_NAMED(mpi_request_free_f08_);

void mpi_barrier_init_f08_(int* comm, int* info, int* request, int* error) {
    tollbar_fortran_do_barrier_init("mpi_barrier_init_f08_", comm, info, request, error);
}

void mpi_start_f08_(int* request, int* error) {
    tollbar_fortran_do_start("mpi_start_f08_", request, error, __builtin_return_address(0));
}

void mpi_startall_f08_(int* count, int* requests, int* error) {
    tollbar_fortran_do_startall("mpi_startall_f08_", count, requests, error, __builtin_return_address(0));
}

void mpi_request_free_f08_(int* request, int* error) {
    tollbar_fortran_do_request_free("mpi_request_free_f08_", request, error);
}
