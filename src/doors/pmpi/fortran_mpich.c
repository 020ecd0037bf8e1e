/* SPDX-License-Identifier: Apache-2.0
 * The mpi_f08 names of MPICH and its kin. mpif.h and `use mpi` come by the C names there, mpi_f08 does not; requests
 * are completed by the MPI, which polls them. */
#include "handles.h"
#include "hooks.h"
#include "host_mpi.h"

typedef void (*barrier_function)(int*, int*);
typedef void (*ibarrier_function)(int*, int*, int*);

void mpi_barrier_f08_(int* comm, int* error) TOLLBAR_NAMED(mpi_barrier_f08_);
void mpi_ibarrier_f08_(int* comm, int* request, int* error) TOLLBAR_NAMED(mpi_ibarrier_f08_);

void mpi_barrier_f08_(int* comm, int* error) {
    if (!tollbar_fits()) {
        barrier_function next = (barrier_function)tollbar_next("mpi_barrier_f08_");
        if (next != NULL) next(comm, error);
        return;
    }
    const int code = tollbar_barrier(tollbar_comm_of_fortran(*comm), __builtin_return_address(0));
    if (error != NULL) *error = code;
}

void mpi_ibarrier_f08_(int* comm, int* request, int* error) {
    if (!tollbar_fits()) {
        ibarrier_function next = (ibarrier_function)tollbar_next("mpi_ibarrier_f08_");
        if (next != NULL) next(comm, request, error);
        return;
    }
    MPI_Request made;
    const int code = tollbar_ibarrier(tollbar_comm_of_fortran(*comm), __builtin_return_address(0), &made);
    if (code == MPI_SUCCESS) *request = tollbar_request_to_fortran(made);
    if (error != NULL) *error = code;
}
