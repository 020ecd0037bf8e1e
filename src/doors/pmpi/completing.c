/* SPDX-License-Identifier: Apache-2.0
 * The C names that complete requests. What they do costs one load as long as no barrier of ours is pending. They make
 * waiting polite and requests cheap; the MPI's other functions complete these requests as well, see family.h. An MPI
 * that nobody can register with has barriers go on here before it looks. */
#include "next.h"
#include "request.h"

#include <stdint.h>

/* A handle by value is a word, as in hooks.c. */
int tollbar_hook_get_status(uintptr_t request, int* over, void* status) __asm__("MPI_Request_get_status");

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    if (tollbar_anything_pending() && tollbar_request_wait(*request)) {
        *request = MPI_REQUEST_NULL;
        if (status == MPI_STATUS_IGNORE) return MPI_SUCCESS;
    }
    return tollbar_next()->wait(request, status);
}

int MPI_Test(MPI_Request* request, int* over, MPI_Status* status) {
    if (tollbar_anything_pending() && tollbar_request_test(*request)) *request = MPI_REQUEST_NULL;
    return tollbar_next()->test(request, over, status);
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    for (int i = 0; i < count && tollbar_anything_pending(); ++i)
        if (tollbar_request_wait(requests[i])) requests[i] = MPI_REQUEST_NULL;
    return tollbar_next()->waitall(count, requests, statuses);
}

/* Once nothing of ours is pending the MPI may wait in its own way. */
int MPI_Waitany(int count, MPI_Request* requests, int* which, MPI_Status* status) {
    for (int64_t since_ns = 0; tollbar_anything_pending();) {
        int over = 0;
        tollbar_pending_advance();
        const int code = tollbar_next()->testany(count, requests, which, &over, status);
        if (code != MPI_SUCCESS || over) return code;
        tollbar_mpi_pass_time(&since_ns);
    }
    return tollbar_next()->waitany(count, requests, which, status);
}

int MPI_Waitsome(int count, MPI_Request* requests, int* done, int* which, MPI_Status* statuses) {
    for (int64_t since_ns = 0; tollbar_anything_pending();) {
        tollbar_pending_advance();
        const int code = tollbar_next()->testsome(count, requests, done, which, statuses);
        if (code != MPI_SUCCESS || *done != 0) return code; /* MPI_UNDEFINED too: there was nothing to wait for */
        tollbar_mpi_pass_time(&since_ns);
    }
    return tollbar_next()->waitsome(count, requests, done, which, statuses);
}

int MPI_Testall(int count, MPI_Request* requests, int* over, MPI_Status* statuses) {
    tollbar_pending_advance();
    return tollbar_next()->testall(count, requests, over, statuses);
}

int MPI_Testany(int count, MPI_Request* requests, int* which, int* over, MPI_Status* status) {
    tollbar_pending_advance();
    return tollbar_next()->testany(count, requests, which, over, status);
}

int MPI_Testsome(int count, MPI_Request* requests, int* done, int* which, MPI_Status* statuses) {
    tollbar_pending_advance();
    return tollbar_next()->testsome(count, requests, done, which, statuses);
}

int tollbar_hook_get_status(uintptr_t request, int* over, void* status) {
    tollbar_pending_advance();
    return tollbar_next()->get_status(request, over, status);
}
