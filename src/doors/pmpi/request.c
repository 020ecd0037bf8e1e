/* SPDX-License-Identifier: Apache-2.0
 * Makes requests, and waits for them in the MPI's place. */
#include "request.h"

#include "family.h"
#include "next.h"

#include <stdlib.h>

/* Under the lock. */
static struct tollbar_request* unused; /* the MPI was told of no end of theirs */
static int joined_progress;

/* Under the lock: the pending one with that handle; NULL when it is none of ours. */
static struct tollbar_request* listed(MPI_Request handle) {
    for (struct tollbar_row* row = handle == MPI_REQUEST_NULL ? NULL : tollbar_rows; row != NULL; row = row->next)
        for (struct tollbar_pending* one = row->first; one != NULL; one = one->next)
            if (((struct tollbar_request*)one)->handle == handle) return (struct tollbar_request*)one;
    return NULL;
}

/* The end of an MPI_Ibarrier's request: frees it, now or when the user asks for it. */
static void complete(struct tollbar_pending* pending) {
    PMPI_Grequest_complete(((struct tollbar_request*)pending)->handle);
}

/* Takes one off that is over and releases the lock. Nonzero when its handle is worth nothing from now on: the MPI was
 * told nothing, and the request can stand for another barrier. Else the MPI finds the request over. */
static int end_quietly(struct tollbar_request* one) {
    const int quiet = one->pending.end == complete;
    tollbar_pending_take_off(&one->pending);
    if (quiet) {
        one->pending.next = (struct tollbar_pending*)unused;
        unused = one;
    }
    tollbar_release_lock();
    if (!quiet) one->pending.end(&one->pending);
    return quiet;
}

/* An empty status, as a collective's request has. */
static int status_of(void* state, MPI_Status* status) {
    (void)state;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return MPI_SUCCESS;
}

/* A barrier cannot be cancelled; it goes on. */
static int cancel(void* state, int over) {
    (void)state, (void)over;
    return MPI_SUCCESS;
}

static int freed_by_mpi(void* state) {
    free(state);
    return MPI_SUCCESS;
}

static int is_over(struct tollbar_pending* one) {
    tollbar_take_lock();
    const int over = tollbar_pending_is_over(one);
    tollbar_release_lock();
    return over;
}

/* With several threads in the MPI nobody may keep a participant for long, and what the MPI does has none: looks again
 * and again, ever less often. */
static void wait_for(struct tollbar_pending* one) {
    const struct tollbar_joined* joined = (const struct tollbar_joined*)one->row;
    if (one->over == NULL && !tollbar_threaded) {
        tollbar_row_wait(one->row, one->episode);
        return;
    }
    for (int64_t since_ns = 0; !is_over(one);) {
        if (one->over == NULL) joined->p2p.progress(joined->p2p.state);
        tollbar_mpi_pass_time(&since_ns);
    }
}

/* With the lock, which it releases. Claims what it waits for: it stays pending, and so the participant and the
 * communicator stay too. */
static void wait_beside(struct tollbar_request* one) {
    const int waits = one != NULL && one->pending.row != NULL && one->pending.over == NULL && !one->pending.claimed;
    if (waits) one->pending.claimed = 1;
    tollbar_release_lock();
    if (waits) {
        wait_for(&one->pending);
        tollbar_take_lock();
        tollbar_pending_take_off(&one->pending);
        tollbar_release_lock();
        one->pending.end(&one->pending);
    }
    tollbar_pending_advance();
}

/* Waits for the barrier of a request and has the MPI find it over. */
static void wait_for_request(void* state) {
    tollbar_take_lock();
    wait_beside(state);
}

static void advance(void) { tollbar_pending_advance(); }

int tollbar_requests_can_be_had(void) {
    static int asked;
    tollbar_take_lock();
    if (!asked) joined_progress = tollbar_join_progress(advance, wait_for_request);
    asked = 1;
    const int answer = joined_progress;
    tollbar_release_lock();
    return answer;
}

static struct tollbar_request* an_unused(void) {
    tollbar_take_lock();
    struct tollbar_request* one = unused;
    if (one != NULL) unused = (struct tollbar_request*)one->pending.next;
    tollbar_release_lock();
    if (one != NULL) return one;
    one = calloc(1, sizeof *one);
    if (one == NULL) return NULL;
    one->pending.end = complete;
    if (tollbar_make_request(status_of, freed_by_mpi, cancel, one, &one->handle) == MPI_SUCCESS) return one;
    free(one);
    return NULL;
}

/* What is over once the MPI's own request is. Whoever saw its beginning sees its end. */
static int passed_is_over(struct tollbar_pending* pending) {
    MPI_Request* passed = &((struct tollbar_request*)pending)->passed;
    int over = 0;
    if (*passed != MPI_REQUEST_NULL) PMPI_Request_get_status(*passed, &over, MPI_STATUS_IGNORE);
    if (over) tollbar_next()->test(passed, &over, MPI_STATUS_IGNORE);
    return *passed == MPI_REQUEST_NULL;
}

void tollbar_request_begin(struct tollbar_request* one, struct tollbar_joined* joined, const void* call_site) {
    one->pending.over = NULL;
    one->pending.episode = tollbar_mpi_arrive(joined->row.participant, call_site);
    tollbar_pending_put_on(&one->pending, &joined->row);
}

int tollbar_request_start(struct tollbar_joined* joined, const void* call_site, MPI_Request* handle) {
    struct tollbar_request* one = an_unused();
    if (one == NULL) return MPI_ERR_NO_MEM;
    tollbar_take_lock();
    tollbar_request_begin(one, joined, call_site);
    tollbar_release_lock();
    *handle = one->handle;
    return MPI_SUCCESS;
}

int tollbar_request_pass(struct tollbar_joined* joined, MPI_Comm comm, MPI_Request* handle) {
    MPI_Request passed;
    const int refused = tollbar_next()->ibarrier((uintptr_t)comm, &passed);
    if (refused != MPI_SUCCESS) return refused;
    struct tollbar_request* one = an_unused();
    *handle = one == NULL ? passed : one->handle;
    if (one == NULL) return MPI_SUCCESS;
    tollbar_take_lock();
    one->pending.over = passed_is_over;
    one->passed = passed;
    tollbar_pending_put_on(&one->pending, &joined->row);
    tollbar_release_lock();
    return MPI_SUCCESS;
}

/* Under the lock, because a hook or progress may be about to end it. */
static int anything_passed(const struct tollbar_joined* joined) {
    int found = 0;
    tollbar_take_lock();
    for (struct tollbar_pending* one = joined->row.first; one != NULL; one = one->next)
        found |= one->over != NULL && !one->over(one);
    tollbar_release_lock();
    return found;
}

void tollbar_requests_finish_passed(const struct tollbar_joined* joined) {
    int64_t since_ns = 0;
    while (tollbar_anything_pending() && anything_passed(joined)) tollbar_mpi_pass_time(&since_ns);
}

int tollbar_request_wait(MPI_Request handle) {
    tollbar_take_lock();
    struct tollbar_request* one = listed(handle);
    if (one != NULL) one->pending.claimed = 1;
    tollbar_release_lock();
    if (one == NULL) return 0;
    wait_for(&one->pending);
    tollbar_take_lock();
    return end_quietly(one);
}

int tollbar_request_test(MPI_Request handle) {
    tollbar_take_lock();
    struct tollbar_request* one = listed(handle);
    if (one != NULL && tollbar_pending_is_over(&one->pending)) return end_quietly(one);
    tollbar_release_lock();
    return 0;
}

void tollbar_request_settle(MPI_Request handle) {
    tollbar_take_lock();
    wait_beside(listed(handle));
}

void tollbar_barrier_after_pending(struct tollbar_joined* joined, const void* call_site) {
    struct tollbar_pending barrier = {.row = &joined->row};
    tollbar_take_lock();
    barrier.episode = tollbar_mpi_arrive(joined->row.participant, call_site);
    tollbar_release_lock();
    wait_for(&barrier);
    tollbar_pending_advance();
}

void tollbar_requests_finish(void) {
    tollbar_pending_advance();
    if (joined_progress) tollbar_leave_progress();
    tollbar_pending_forget(); /* a program that ends with pending barriers is wrong already */
    while (unused != NULL) {
        struct tollbar_request* one = unused;
        MPI_Request handle = one->handle;
        unused = (struct tollbar_request*)one->pending.next;
        PMPI_Grequest_complete(handle);
        PMPI_Wait(&handle, MPI_STATUS_IGNORE);
    }
}
