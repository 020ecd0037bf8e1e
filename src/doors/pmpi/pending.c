/* SPDX-License-Identifier: Apache-2.0
 * The requests of MPI_Ibarriers: how they are had, and how whatever makes progress ends them. */
#include "pending.h"

#include "host_mpi.h"
#include "pending_list.h"
#include "persistent.h"
#include "request.h"

#include <stdlib.h>

static struct tollbar_pending* unused;
static int joined_progress;

int tollbar_request_status(void* state, MPI_Status* status) {
    (void)state;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return MPI_SUCCESS;
}

int tollbar_request_cancel(void* state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static int freed_by_mpi(void* state) {
    free(state);
    return MPI_SUCCESS;
}

int tollbar_requests_can_be_had(void) {
    static int asked;
    tollbar_take_lock();
    if (!asked) joined_progress = tollbar_join_progress(tollbar_pending_advance);
    asked = 1;
    const int answer = joined_progress;
    tollbar_release_lock();
    return answer;
}

static struct tollbar_pending* an_unused(void) {
    tollbar_take_lock();
    struct tollbar_pending* one = unused;
    if (one != NULL) unused = one->next;
    tollbar_release_lock();
    if (one != NULL) return one;
    one = calloc(1, sizeof *one);
    if (one != NULL && tollbar_make_request(freed_by_mpi, one, &one->request) != MPI_SUCCESS) {
        free(one);
        return NULL;
    }
    return one;
}

/* Under the lock. The MPI has not been told that the request is over, so it can stand for another barrier. */
static void keep(struct tollbar_pending* one) {
    tollbar_take_off(one);
    one->next = unused;
    unused = one;
}

int tollbar_end_quietly(struct tollbar_pending* one) {
    if (!one->persistent) {
        keep(one);
        return 1;
    }
    tollbar_take_off(one);
    tollbar_persistent_end(one);
    return 0;
}

int tollbar_pending_start(struct tollbar_communicator* communicator, const void* call_site, MPI_Request* request) {
    struct tollbar_pending* one = an_unused();
    if (one == NULL) return MPI_ERR_NO_MEM;
    tollbar_take_lock();
    one->communicator = communicator;
    one->kind = done_by_us;
    one->episode = tollbar_mpi_arrive(communicator->participant, call_site);
    ++communicator->ibarriers;
    tollbar_put_on(one);
    tollbar_release_lock();
    *request = one->request;
    return MPI_SUCCESS;
}

int tollbar_pending_pass(struct tollbar_communicator* communicator, MPI_Comm comm, MPI_Request* request) {
    MPI_Request passed;
    const int refused = PMPI_Ibarrier(comm, &passed);
    if (refused != MPI_SUCCESS) return refused;
    struct tollbar_pending* one = an_unused();
    *request = one == NULL ? passed : one->request;
    if (one == NULL) return MPI_SUCCESS;
    tollbar_take_lock();
    one->communicator = communicator;
    one->kind = done_by_mpi;
    one->passed = passed;
    tollbar_put_on(one);
    tollbar_release_lock();
    return MPI_SUCCESS;
}

/* Under the lock, because a hook or progress may be about to end it. */
static int anything_passed(const struct tollbar_communicator* communicator) {
    int found = 0;
    tollbar_take_lock();
    for (struct tollbar_pending *one = tollbar_pending_list, *next; one != NULL; one = next) {
        next = one->next;
        if (one->communicator == communicator && one->kind == done_by_mpi) found |= !tollbar_is_over(one);
    }
    tollbar_release_lock();
    return found;
}

void tollbar_pending_finish_passed(struct tollbar_communicator* communicator) {
    for (long turn = 0; tollbar_anything_pending() && anything_passed(communicator); ++turn) tollbar_pass_time(turn);
}

struct tollbar_pending* tollbar_pending_find(MPI_Request request) {
    tollbar_take_lock();
    struct tollbar_pending* one = tollbar_listed(request);
    if (one != NULL) one->claimed = 1;
    tollbar_release_lock();
    return one;
}

void tollbar_pending_advance(void) {
    if (!tollbar_anything_pending() || !tollbar_try_lock()) return;
    for (struct tollbar_pending *one = tollbar_pending_list, *next; one != NULL; one = next) {
        next = one->next;
        if (one->claimed || !tollbar_is_over(one)) continue;
        tollbar_take_off(one);
        if (one->persistent)
            tollbar_persistent_end(one);
        else
            PMPI_Grequest_complete(one->request); /* frees it, now or when the user asks for it */
    }
    tollbar_release_lock();
}

int tollbar_pending_test(struct tollbar_pending* one) {
    tollbar_take_lock();
    int worthless = 0;
    if (tollbar_is_over(one))
        worthless = tollbar_end_quietly(one);
    else
        one->claimed = 0;
    tollbar_release_lock();
    return worthless;
}

void tollbar_pending_finish(void) {
    tollbar_pending_advance();
    if (joined_progress) tollbar_leave_progress();
    tollbar_pending_list = NULL; /* a program that ends with pending barriers is wrong already */
    atomic_store_explicit(&tollbar_pending_count, 0, memory_order_relaxed);
    while (unused != NULL) {
        struct tollbar_pending* one = unused;
        MPI_Request request = one->request;
        unused = one->next;
        PMPI_Grequest_complete(request);
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}
