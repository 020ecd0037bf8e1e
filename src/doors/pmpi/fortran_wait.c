/* SPDX-License-Identifier: Apache-2.0
 * Open MPI's Fortran names of MPI_Wait and MPI_Waitall: they end requests by themselves, and would wait for a late rank
 * with all of a CPU. Here ours are waited for politely first. */
#include "handles.h"
#include "hooks.h"
#include "host_mpi.h"
#include "pending.h"

void tollbar_fortran_wait(int* request, void* status, int* error) TOLLBAR_NAMED(mpi_wait_);
void tollbar_fortran_waitall(int* count, int* requests, void* statuses, int* error) TOLLBAR_NAMED(mpi_waitall_);

static void settle(int count, const int* requests) {
    for (int i = 0; i < count && tollbar_anything_pending(); ++i)
        tollbar_pending_settle(tollbar_request_of_fortran(requests[i]));
}

void tollbar_fortran_wait(int* request, void* status, int* error) {
    static void (*next)(int*, void*, int*);
    settle(1, request);
    if (next == NULL) next = (void (*)(int*, void*, int*))tollbar_next("mpi_wait_");
    if (next != NULL) next(request, status, error);
}

void tollbar_fortran_waitall(int* count, int* requests, void* statuses, int* error) {
    static void (*next)(int*, int*, void*, int*);
    settle(*count, requests);
    if (next == NULL) next = (void (*)(int*, int*, void*, int*))tollbar_next("mpi_waitall_");
    if (next != NULL) next(count, requests, statuses, error);
}

#define TOLLBAR_WAIT_TOO(name)                                                              \
    void tollbar_fortran_##name(int* request, void* status, int* error) TOLLBAR_NAMED(name) \
        __attribute__((alias("mpi_wait_")));
#define TOLLBAR_WAITALL_TOO(name)                                                                          \
    void tollbar_fortran_##name(int* count, int* requests, void* statuses, int* error) TOLLBAR_NAMED(name) \
        __attribute__((alias("mpi_waitall_")));
TOLLBAR_WAIT_TOO(mpi_wait)
TOLLBAR_WAIT_TOO(mpi_wait__)
TOLLBAR_WAIT_TOO(MPI_WAIT)
TOLLBAR_WAIT_TOO(ompi_wait_f)
TOLLBAR_WAITALL_TOO(mpi_waitall)
TOLLBAR_WAITALL_TOO(mpi_waitall__)
TOLLBAR_WAITALL_TOO(MPI_WAITALL)
TOLLBAR_WAITALL_TOO(ompi_waitall_f)
