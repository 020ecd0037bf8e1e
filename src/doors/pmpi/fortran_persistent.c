/* SPDX-License-Identifier: Apache-2.0
 * What the Fortran names of persistent barriers do, whatever an MPI calls them. */
#include "fortran_persistent.h"

#include "handles.h"
#include "hooks.h"
#include "host_mpi.h"
#include "persistent.h"

#include <stdlib.h>

void tollbar_fortran_do_barrier_init(const char* name, int* comm, int* info, int* request, int* error) {
    if (!tollbar_fits()) {
        void (*next)(int*, int*, int*, int*) = (void (*)(int*, int*, int*, int*))tollbar_next(name);
        if (next != NULL) next(comm, info, request, error);
        return;
    }
    MPI_Request made;
    const int code = tollbar_barrier_init(tollbar_comm_of_fortran(*comm), tollbar_info_of_fortran(*info), &made);
    if (code == MPI_SUCCESS) *request = tollbar_request_to_fortran(made);
    if (error != NULL) *error = code;
}

void tollbar_fortran_do_start(const char* name, int* request, int* error, const void* call_site) {
    if (!tollbar_any_handles()) {
        void (*next)(int*, int*) = (void (*)(int*, int*))tollbar_next(name);
        if (next != NULL) next(request, error);
        return;
    }
    const MPI_Request handle = tollbar_request_of_fortran(*request);
    const int code = tollbar_start(1, &handle, call_site);
    if (error != NULL) *error = code;
}

void tollbar_fortran_do_startall(const char* name, int* count, int* requests, int* error, const void* call_site) {
    MPI_Request* handles = tollbar_any_handles() && *count > 0 ? malloc((size_t)*count * sizeof *handles) : NULL;
    if (handles == NULL) {
        void (*next)(int*, int*, int*) = (void (*)(int*, int*, int*))tollbar_next(name);
        if (next != NULL) next(count, requests, error);
        return;
    }
    for (int i = 0; i < *count; ++i) handles[i] = tollbar_request_of_fortran(requests[i]);
    const int code = tollbar_start(*count, handles, call_site);
    if (error != NULL) *error = code;
    free(handles);
}

void tollbar_fortran_do_request_free(const char* name, int* request, int* error) {
    if (tollbar_any_handles()) tollbar_persistent_free(tollbar_request_of_fortran(*request));
    void (*next)(int*, int*) = (void (*)(int*, int*))tollbar_next(name);
    if (next != NULL) next(request, error);
}
