/* SPDX-License-Identifier: Apache-2.0
 * The mpi_f08 names of MPICH and its kin that complete requests. They do not come by the C names, and the MPI does not
 * poll persistent barriers: those go on here, and the MPI finds them over. */
#include "handles.h"
#include "hooks.h"
#include "host_mpi.h"
#include "pending.h"

typedef void (*three_arguments)(int*, void*, int*);
typedef void (*four_arguments)(int*, int*, void*, int*);
typedef void (*five_arguments)(int*, int*, int*, void*, int*);
typedef void (*six_arguments)(int*, int*, int*, int*, void*, int*);

void mpi_wait_f08_(int* request, void* status, int* error) TOLLBAR_NAMED(mpi_wait_f08_);
void mpi_waitall_f08_(int* count, int* requests, void* statuses, int* error) TOLLBAR_NAMED(mpi_waitall_f08_);
void mpi_waitany_f08_(int* count, int* requests, int* which, void* status, int* error) TOLLBAR_NAMED(mpi_waitany_f08_);
void mpi_waitsome_f08_(int* count, int* requests, int* done, int* which, void* statuses, int* error)
    TOLLBAR_NAMED(mpi_waitsome_f08_);
void mpi_test_f08_(int* request, int* over, void* status, int* error) TOLLBAR_NAMED(mpi_test_f08_);
void mpi_testall_f08_(int* count, int* requests, int* over, void* statuses, int* error) TOLLBAR_NAMED(mpi_testall_f08_);
void mpi_testany_f08_(int* count, int* requests, int* which, int* over, void* status, int* error)
    TOLLBAR_NAMED(mpi_testany_f08_);
void mpi_testsome_f08_(int* count, int* requests, int* done, int* which, void* statuses, int* error)
    TOLLBAR_NAMED(mpi_testsome_f08_);
void mpi_request_get_status_f08_(int* request, int* over, void* status, int* error)
    TOLLBAR_NAMED(mpi_request_get_status_f08_);

static void settle(int count, const int* requests) {
    for (int i = 0; i < count && tollbar_anything_pending(); ++i)
        tollbar_pending_settle(tollbar_request_of_fortran(requests[i]));
}

void mpi_wait_f08_(int* request, void* status, int* error) {
    static three_arguments next;
    settle(1, request);
    if (next == NULL) next = (three_arguments)tollbar_next("mpi_wait_f08_");
    if (next != NULL) next(request, status, error);
}

void mpi_waitall_f08_(int* count, int* requests, void* statuses, int* error) {
    static four_arguments next;
    settle(*count, requests);
    if (next == NULL) next = (four_arguments)tollbar_next("mpi_waitall_f08_");
    if (next != NULL) next(count, requests, statuses, error);
}

/* Once nothing of ours is pending the MPI may wait in its own way. */
void mpi_waitany_f08_(int* count, int* requests, int* which, void* status, int* error) {
    static five_arguments next;
    for (long turn = 0; tollbar_anything_pending(); ++turn) {
        int over = 0, code = MPI_SUCCESS;
        mpi_testany_f08_(count, requests, which, &over, status, &code);
        if (error != NULL) *error = code;
        if (code != MPI_SUCCESS || over) return;
        tollbar_pass_time(turn);
    }
    if (next == NULL) next = (five_arguments)tollbar_next("mpi_waitany_f08_");
    if (next != NULL) next(count, requests, which, status, error);
}

void mpi_waitsome_f08_(int* count, int* requests, int* done, int* which, void* statuses, int* error) {
    static six_arguments next;
    for (long turn = 0; tollbar_anything_pending(); ++turn) {
        int code = MPI_SUCCESS;
        mpi_testsome_f08_(count, requests, done, which, statuses, &code);
        if (error != NULL) *error = code;
        if (code != MPI_SUCCESS || *done != 0) return; /* MPI_UNDEFINED too: there was nothing to wait for */
        tollbar_pass_time(turn);
    }
    if (next == NULL) next = (six_arguments)tollbar_next("mpi_waitsome_f08_");
    if (next != NULL) next(count, requests, done, which, statuses, error);
}

void mpi_test_f08_(int* request, int* over, void* status, int* error) {
    static four_arguments next;
    tollbar_pending_advance();
    if (next == NULL) next = (four_arguments)tollbar_next("mpi_test_f08_");
    if (next != NULL) next(request, over, status, error);
}

void mpi_testall_f08_(int* count, int* requests, int* over, void* statuses, int* error) {
    static five_arguments next;
    tollbar_pending_advance();
    if (next == NULL) next = (five_arguments)tollbar_next("mpi_testall_f08_");
    if (next != NULL) next(count, requests, over, statuses, error);
}

void mpi_testany_f08_(int* count, int* requests, int* which, int* over, void* status, int* error) {
    static six_arguments next;
    tollbar_pending_advance();
    if (next == NULL) next = (six_arguments)tollbar_next("mpi_testany_f08_");
    if (next != NULL) next(count, requests, which, over, status, error);
}

void mpi_testsome_f08_(int* count, int* requests, int* done, int* which, void* statuses, int* error) {
    static six_arguments next;
    tollbar_pending_advance();
    if (next == NULL) next = (six_arguments)tollbar_next("mpi_testsome_f08_");
    if (next != NULL) next(count, requests, done, which, statuses, error);
}

void mpi_request_get_status_f08_(int* request, int* over, void* status, int* error) {
    static four_arguments next;
    tollbar_pending_advance();
    if (next == NULL) next = (four_arguments)tollbar_next("mpi_request_get_status_f08_");
    if (next != NULL) next(request, over, status, error);
}
