/* SPDX-License-Identifier: Apache-2.0
 * The mpi_f08 names of MPICH and its kin. mpif.h and `use mpi` come by the C names there, mpi_f08 does not; requests
 * are completed by the MPI, which polls them. */
#include "fortran_barrier.h"
#include "hooks.h"

void mpi_barrier_f08_(int* comm, int* error) TOLLBAR_NAMED(mpi_barrier_f08_);
void mpi_ibarrier_f08_(int* comm, int* request, int* error) TOLLBAR_NAMED(mpi_ibarrier_f08_);

void mpi_barrier_f08_(int* comm, int* error) {
    tollbar_fortran_do_barrier("mpi_barrier_f08_", comm, error, __builtin_return_address(0));
}

void mpi_ibarrier_f08_(int* comm, int* request, int* error) {
    tollbar_fortran_do_ibarrier("mpi_ibarrier_f08_", comm, request, error, __builtin_return_address(0));
}
