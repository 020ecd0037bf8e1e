/* SPDX-License-Identifier: Apache-2.0
 * The Fortran names of Open MPI. mpif.h and `use mpi` call mpi_barrier_ in one of four spellings, mpi_f08 calls
 * ompi_barrier_f; neither comes by the C name. Their requests are completed by Open MPI's own progress. */
#include "handles.h"
#include "hooks.h"
#include "host_mpi.h"

typedef void (*barrier_function)(int*, int*);
typedef void (*ibarrier_function)(int*, int*, int*);

void tollbar_fortran_barrier(int* comm, int* error) TOLLBAR_NAMED(mpi_barrier_);
void tollbar_fortran_ibarrier(int* comm, int* request, int* error) TOLLBAR_NAMED(mpi_ibarrier_);

void tollbar_fortran_barrier(int* comm, int* error) {
    if (!tollbar_fits()) {
        barrier_function next = (barrier_function)tollbar_next("mpi_barrier_");
        if (next != NULL) next(comm, error);
        return;
    }
    const int code = tollbar_barrier(tollbar_comm_of_fortran(*comm), __builtin_return_address(0));
    if (error != NULL) *error = code;
}

void tollbar_fortran_ibarrier(int* comm, int* request, int* error) {
    if (!tollbar_fits()) {
        ibarrier_function next = (ibarrier_function)tollbar_next("mpi_ibarrier_");
        if (next != NULL) next(comm, request, error);
        return;
    }
    MPI_Request made;
    const int code = tollbar_ibarrier(tollbar_comm_of_fortran(*comm), __builtin_return_address(0), &made);
    if (code == MPI_SUCCESS) *request = tollbar_request_to_fortran(made);
    if (error != NULL) *error = code;
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
