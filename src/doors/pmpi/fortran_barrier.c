/* SPDX-License-Identifier: Apache-2.0
 * What the Fortran names of the barriers do, whatever an MPI calls them. */
#include "fortran_barrier.h"

#include "handles.h"
#include "hooks.h"
#include "host_mpi.h"

void tollbar_fortran_do_barrier(const char* name, int* comm, int* error, const void* call_site) {
    if (!tollbar_fits()) {
        void (*next)(int*, int*) = (void (*)(int*, int*))tollbar_next(name);
        if (next != NULL) next(comm, error);
        return;
    }
    const int code = tollbar_barrier(tollbar_comm_of_fortran(*comm), call_site);
    if (error != NULL) *error = code;
}

void tollbar_fortran_do_ibarrier(const char* name, int* comm, int* request, int* error, const void* call_site) {
    if (!tollbar_fits()) {
        void (*next)(int*, int*, int*) = (void (*)(int*, int*, int*))tollbar_next(name);
        if (next != NULL) next(comm, request, error);
        return;
    }
    MPI_Request made;
    const int code = tollbar_ibarrier(tollbar_comm_of_fortran(*comm), call_site, &made);
    if (code == MPI_SUCCESS) *request = tollbar_request_to_fortran(made);
    if (error != NULL) *error = code;
}
