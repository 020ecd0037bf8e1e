/* SPDX-License-Identifier: Apache-2.0
 * The Fortran names of Open MPI. mpif.h and `use mpi` call mpi_barrier_ in one of four spellings, mpi_f08 calls
 * ompi_barrier_f; neither comes by the C name. Their requests are completed by Open MPI's own progress. */
#include "fortran_barrier.h"
#include "hooks.h"

void tollbar_fortran_barrier(int* comm, int* error) TOLLBAR_NAMED(mpi_barrier_);
void tollbar_fortran_ibarrier(int* comm, int* request, int* error) TOLLBAR_NAMED(mpi_ibarrier_);

void tollbar_fortran_barrier(int* comm, int* error) {
    tollbar_fortran_do_barrier("mpi_barrier_", comm, error, __builtin_return_address(0));
}

void tollbar_fortran_ibarrier(int* comm, int* request, int* error) {
    tollbar_fortran_do_ibarrier("mpi_ibarrier_", comm, request, error, __builtin_return_address(0));
}

/* The other spellings are the same functions, as in Open MPI itself. */
#define TOLLBAR_BARRIER_TOO(name) \
    void tollbar_fortran_##name(int* comm, int* error) TOLLBAR_NAMED(name) __attribute__((alias("mpi_barrier_")));
#define TOLLBAR_IBARRIER_TOO(name)                                                       \
    void tollbar_fortran_##name(int* comm, int* request, int* error) TOLLBAR_NAMED(name) \
        __attribute__((alias("mpi_ibarrier_")));
TOLLBAR_BARRIER_TOO(mpi_barrier)
TOLLBAR_BARRIER_TOO(mpi_barrier__)
TOLLBAR_BARRIER_TOO(MPI_BARRIER)
TOLLBAR_BARRIER_TOO(ompi_barrier_f)
TOLLBAR_IBARRIER_TOO(mpi_ibarrier)
TOLLBAR_IBARRIER_TOO(mpi_ibarrier__)
TOLLBAR_IBARRIER_TOO(MPI_IBARRIER)
TOLLBAR_IBARRIER_TOO(ompi_ibarrier_f)
