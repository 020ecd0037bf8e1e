/* SPDX-License-Identifier: Apache-2.0
 * Stands in front of two of Open MPI's request functions, which it keeps in a table to be replaced. Requests that are
 * not ours, and MPI_THREAD_MULTIPLE, go straight on to what was there. */
#include "waits.h"

#include "request.h"

#include <opal/threads/threads.h>

static ompi_request_fns_t before;

static int wait_one(ompi_request_t** handle, ompi_status_public_t* status) {
    if (OPAL_UNLIKELY(tollbar_request_is_pending(*handle)) && !opal_using_threads()) tollbar_request_finish(*handle);
    return before.req_wait(handle, status);
}

/* Another pending request needs more of Open MPI's progress than a wait in here gives. */
static int wait_all(size_t count, ompi_request_t** handles, ompi_status_public_t* statuses) {
    size_t ours = 0, others = 0;
    for (size_t i = 0; i < count; ++i) {
        if (REQUEST_COMPLETE(handles[i])) continue;
        if (tollbar_request_is_pending(handles[i])) {
            ++ours;
        } else {
            ++others;
        }
    }
    if (ours != 0 && others == 0 && !opal_using_threads())
        for (size_t i = 0; i < count; ++i)
            if (tollbar_request_is_pending(handles[i])) tollbar_request_finish(handles[i]);
    return before.req_wait_all(count, handles, statuses);
}

void tollbar_waits_install(void) {
    if (before.req_wait != NULL) return;
    before = ompi_request_functions;
    ompi_request_functions.req_wait = wait_one;
    ompi_request_functions.req_wait_all = wait_all;
}

void tollbar_waits_remove(void) {
    if (ompi_request_functions.req_wait == wait_one) ompi_request_functions.req_wait = before.req_wait;
    if (ompi_request_functions.req_wait_all == wait_all) ompi_request_functions.req_wait_all = before.req_wait_all;
}
