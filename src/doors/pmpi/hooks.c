/* SPDX-License-Identifier: Apache-2.0
 * The C names that programs call. Where the library does not fit, or the communicator is left to the MPI, each goes on
 * to the profiling name. */
#include "hooks.h"

#include "communicator.h"
#include "host_mpi.h"
#include "joining.h"
#include "pending.h"

#include <stdlib.h>

int tollbar_pass_barrier(tollbar_word comm) TOLLBAR_PASSED_TO(PMPI_Barrier);
int tollbar_pass_ibarrier(tollbar_word comm, void* request) TOLLBAR_PASSED_TO(PMPI_Ibarrier);
int tollbar_pass_init(int* argc, char*** argv) TOLLBAR_PASSED_TO(PMPI_Init);
int tollbar_pass_init_thread(int* argc, char*** argv, int required, int* provided) TOLLBAR_PASSED_TO(PMPI_Init_thread);
int tollbar_pass_wait(void* request, void* status) TOLLBAR_PASSED_TO(PMPI_Wait);
int tollbar_pass_test(void* request, int* over, void* status) TOLLBAR_PASSED_TO(PMPI_Test);
int tollbar_pass_waitany(int count, void* requests, int* which, void* status) TOLLBAR_PASSED_TO(PMPI_Waitany);
int tollbar_pass_waitsome(int count, void* requests, int* done, int* which, void* statuses)
    TOLLBAR_PASSED_TO(PMPI_Waitsome);
int tollbar_pass_waitall(int count, void* requests, void* statuses) TOLLBAR_PASSED_TO(PMPI_Waitall);

int tollbar_hook_barrier(tollbar_word comm) TOLLBAR_NAMED(MPI_Barrier);
int tollbar_hook_ibarrier(tollbar_word comm, void* request) TOLLBAR_NAMED(MPI_Ibarrier);
int tollbar_hook_init(int* argc, char*** argv) TOLLBAR_NAMED(MPI_Init);
int tollbar_hook_init_thread(int* argc, char*** argv, int required, int* provided) TOLLBAR_NAMED(MPI_Init_thread);
int tollbar_hook_wait(void* request, void* status) TOLLBAR_NAMED(MPI_Wait);
int tollbar_hook_test(void* request, int* over, void* status) TOLLBAR_NAMED(MPI_Test);
int tollbar_hook_waitany(int count, void* requests, int* which, void* status) TOLLBAR_NAMED(MPI_Waitany);
int tollbar_hook_waitsome(int count, void* requests, int* done, int* which, void* statuses) TOLLBAR_NAMED(MPI_Waitsome);
int tollbar_hook_waitall(int count, void* requests, void* statuses) TOLLBAR_NAMED(MPI_Waitall);

static int failed(MPI_Comm comm) {
    PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

static inline int barrier(MPI_Comm comm, const void* call_site) {
    struct tollbar_first first = {.call_site = call_site};
    struct tollbar_communicator* communicator = tollbar_communicator_of_all(comm, &first);
    if (communicator == NULL) return PMPI_Barrier(comm);
    ++communicator->barriers;
    if (first.met) return MPI_SUCCESS;
    /* Acquire: pairs with the end of the last pending one, which another thread may have seen to. */
    if (atomic_load_explicit(&communicator->pending, memory_order_acquire) == 0) {
        if (tollbar_mpi_arrive_and_wait(communicator->participant, call_site) != 0) return failed(comm);
    } else {
        tollbar_barrier_after_pending(communicator, call_site);
    }
    return MPI_SUCCESS;
}

int tollbar_barrier(MPI_Comm comm, const void* call_site) { return barrier(comm, call_site); }

/* The first collective barrier of a communicator makes what it needs, and blocks for it; this call may not, so that
 * before it the MPI does this one. Every rank calls the two in the same order, so all do the same. */
int tollbar_ibarrier(MPI_Comm comm, const void* call_site, MPI_Request* request) {
    struct tollbar_communicator* communicator = tollbar_communicator_known(comm);
    if (communicator != NULL && communicator->splits_phases)
        return tollbar_pending_start(communicator, call_site, request);
    if (!tollbar_mpi_forgets_pending) return PMPI_Ibarrier(comm, request);
    communicator = tollbar_record_of(comm);
    if (communicator == NULL || !tollbar_requests_can_be_had()) return PMPI_Ibarrier(comm, request);
    return tollbar_pending_pass(communicator, comm, request);
}

int tollbar_hook_barrier(tollbar_word comm) {
    if (!tollbar_fits()) return tollbar_pass_barrier(comm);
    return barrier((MPI_Comm)comm, __builtin_return_address(0));
}

int tollbar_hook_ibarrier(tollbar_word comm, void* request) {
    if (!tollbar_fits()) return tollbar_pass_ibarrier(comm, request);
    return tollbar_ibarrier((MPI_Comm)comm, __builtin_return_address(0), request);
}

int tollbar_hook_init(int* argc, char*** argv) {
    tollbar_find_fit();
    const int code = tollbar_pass_init(argc, argv);
    if (code == MPI_SUCCESS) tollbar_open_office();
    return code;
}

int tollbar_hook_init_thread(int* argc, char*** argv, int required, int* provided) {
    tollbar_find_fit();
    const int code = tollbar_pass_init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS) tollbar_open_office();
    return code;
}

/* What the completing calls below do costs one load as long as no MPI_Ibarrier of ours is pending. They make waiting
 * polite and requests cheap; the MPI's other functions complete these requests as well, see host_mpi.h. */

int tollbar_hook_wait(void* handle, void* status) {
    MPI_Request* request = handle;
    if (tollbar_anything_pending()) {
        struct tollbar_pending* ours = tollbar_pending_find(*request);
        if (ours != NULL && tollbar_pending_wait(ours)) {
            *request = MPI_REQUEST_NULL;
            if (status == MPI_STATUS_IGNORE) return MPI_SUCCESS;
        }
    }
    return tollbar_pass_wait(request, status);
}

int tollbar_hook_test(void* handle, int* over, void* status) {
    MPI_Request* request = handle;
    if (tollbar_anything_pending()) {
        struct tollbar_pending* ours = tollbar_pending_find(*request);
        if (ours != NULL && tollbar_pending_test(ours)) *request = MPI_REQUEST_NULL;
    }
    return tollbar_pass_test(request, over, status);
}

int tollbar_hook_waitall(int count, void* handles, void* statuses) {
    MPI_Request* requests = handles;
    if (tollbar_anything_pending()) {
        for (int i = 0; i < count; ++i) {
            struct tollbar_pending* ours = tollbar_pending_find(requests[i]);
            if (ours != NULL && tollbar_pending_wait(ours)) requests[i] = MPI_REQUEST_NULL;
        }
    }
    return tollbar_pass_waitall(count, requests, statuses);
}

/* Once nothing of ours is pending the MPI may wait in its own way. */
int tollbar_hook_waitany(int count, void* handles, int* which, void* status) {
    MPI_Request* requests = handles;
    for (long turn = 0; tollbar_anything_pending(); ++turn) {
        int over = 0;
        tollbar_pending_advance();
        const int code = PMPI_Testany(count, requests, which, &over, status);
        if (code != MPI_SUCCESS || over) return code;
        tollbar_pass_time(turn);
    }
    return tollbar_pass_waitany(count, requests, which, status);
}

int tollbar_hook_waitsome(int count, void* handles, int* done, int* which, void* statuses) {
    MPI_Request* requests = handles;
    for (long turn = 0; tollbar_anything_pending(); ++turn) {
        tollbar_pending_advance();
        const int code = PMPI_Testsome(count, requests, done, which, statuses);
        if (code != MPI_SUCCESS || *done != 0) return code; /* MPI_UNDEFINED too: there was nothing to wait for */
        tollbar_pass_time(turn);
    }
    return tollbar_pass_waitsome(count, requests, done, which, statuses);
}
