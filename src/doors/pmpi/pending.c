/* SPDX-License-Identifier: Apache-2.0
 * One list for the process, in the order the barriers were begun in, and the lock that guards it. */
#include "pending.h"

#include "family.h"

#include <sched.h>
#include <stdlib.h>

int tollbar_threaded;
_Atomic uint32_t tollbar_pending_count;

/* Under the lock; oldest first. */
static struct tollbar_pending* list;
static struct tollbar_pending* unused;
static int joined_progress;

static atomic_flag lock = ATOMIC_FLAG_INIT;
static int locked; /* of a process whose threads are in the MPI one at a time: keeps progress out */

/* Memory order: acquire when nonzero; pairs with tollbar_release_lock(). */
static int try_lock(void) {
    if (tollbar_threaded) return !atomic_flag_test_and_set_explicit(&lock, memory_order_acquire);
    if (locked) return 0;
    locked = 1;
    return 1;
}

void tollbar_take_lock(void) {
    while (!try_lock()) sched_yield();
}

void tollbar_release_lock(void) {
    if (tollbar_threaded)
        atomic_flag_clear_explicit(&lock, memory_order_release);
    else
        locked = 0;
}

/* Under the lock, its place in `joined` known. */
static void put_on(struct tollbar_pending* one, struct tollbar_joined* joined) {
    struct tollbar_pending** end = &list;
    while (*end != NULL) end = &(*end)->next;
    one->joined = joined;
    one->next = NULL;
    *end = one;
    atomic_fetch_add_explicit(&joined->pending, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&tollbar_pending_count, 1, memory_order_relaxed);
}

/* Under the lock. Memory order: release: what was done with the participant is before whoever finds that nothing is
 * pending. */
static void take_off(struct tollbar_pending* one) {
    struct tollbar_pending** link = &list;
    while (*link != one) link = &(*link)->next;
    *link = one->next;
    atomic_fetch_sub_explicit(&one->joined->pending, 1, memory_order_release);
    atomic_fetch_sub_explicit(&tollbar_pending_count, 1, memory_order_relaxed);
    one->joined = NULL;
    one->claimed = 0;
}

/* Under the lock: with that handle; NULL when it is none of ours. */
static struct tollbar_pending* listed(MPI_Request request) {
    struct tollbar_pending* one = request == MPI_REQUEST_NULL ? NULL : list;
    while (one != NULL && one->request != request) one = one->next;
    return one;
}

/* Under the lock. Memory order: as tollbar_mpi_test. */
static int is_over(struct tollbar_pending* one) {
    if (one->kind == done_by_mpi) {
        int over = 0;
        PMPI_Test(&one->passed, &over, MPI_STATUS_IGNORE);
        if (over) one->kind = found_over;
    }
    if (one->kind != done_by_us) return one->kind == found_over;
    return !one->joined->waits && tollbar_mpi_test(one->joined->participant, one->episode);
}

/* The end of an MPI_Ibarrier's request: frees it, now or when the user asks for it. */
static void complete(struct tollbar_pending* one) { PMPI_Grequest_complete(one->request); }

/* Under the lock, for one that is over: takes it off. Nonzero when its handle is worth nothing from now on: the MPI was
 * told nothing, and the request can stand for another barrier. Else the MPI finds the request over. */
static int end_quietly(struct tollbar_pending* one) {
    take_off(one);
    if (one->end != complete) {
        one->end(one);
        return 0;
    }
    one->next = unused;
    unused = one;
    return 1;
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

/* Waits for the barrier of a request and has the MPI find it over. */
static void wait_for_request(void* state);

int tollbar_requests_can_be_had(void) {
    static int asked;
    tollbar_take_lock();
    if (!asked) joined_progress = tollbar_join_progress(tollbar_pending_advance, wait_for_request);
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
    if (one == NULL) return NULL;
    one->end = complete;
    if (tollbar_make_request(status_of, freed_by_mpi, cancel, one, &one->request) == MPI_SUCCESS) return one;
    free(one);
    return NULL;
}

void tollbar_pending_begin(struct tollbar_pending* one, struct tollbar_joined* joined, const void* call_site) {
    one->kind = done_by_us;
    one->episode = tollbar_mpi_arrive(joined->participant, call_site);
    put_on(one, joined);
}

int tollbar_pending_end_if_over(struct tollbar_pending* one) {
    if (!is_over(one)) return 0;
    take_off(one);
    one->end(one);
    return 1;
}

int tollbar_pending_start(struct tollbar_joined* joined, const void* call_site, MPI_Request* request) {
    struct tollbar_pending* one = an_unused();
    if (one == NULL) return MPI_ERR_NO_MEM;
    tollbar_take_lock();
    tollbar_pending_begin(one, joined, call_site);
    tollbar_release_lock();
    *request = one->request;
    return MPI_SUCCESS;
}

int tollbar_pending_pass(struct tollbar_joined* joined, MPI_Comm comm, MPI_Request* request) {
    MPI_Request passed;
    const int refused = PMPI_Ibarrier(comm, &passed);
    if (refused != MPI_SUCCESS) return refused;
    struct tollbar_pending* one = an_unused();
    *request = one == NULL ? passed : one->request;
    if (one == NULL) return MPI_SUCCESS;
    tollbar_take_lock();
    one->kind = done_by_mpi;
    one->passed = passed;
    put_on(one, joined);
    tollbar_release_lock();
    return MPI_SUCCESS;
}

/* Under the lock, because a hook or progress may be about to end it. */
static int anything_passed(const struct tollbar_joined* joined) {
    int found = 0;
    tollbar_take_lock();
    for (struct tollbar_pending *one = list, *next; one != NULL; one = next) {
        next = one->next;
        if (one->joined == joined && one->kind == done_by_mpi) found |= !is_over(one);
    }
    tollbar_release_lock();
    return found;
}

void tollbar_pending_finish_passed(const struct tollbar_joined* joined) {
    int64_t since_ns = 0;
    while (tollbar_anything_pending() && anything_passed(joined)) tollbar_mpi_pass_time(&since_ns);
}

struct tollbar_pending* tollbar_pending_find(MPI_Request request) {
    tollbar_take_lock();
    struct tollbar_pending* one = listed(request);
    if (one != NULL) one->claimed = 1;
    tollbar_release_lock();
    return one;
}

void tollbar_pending_advance(void) {
    if (!tollbar_anything_pending() || !try_lock()) return;
    for (struct tollbar_pending *one = list, *next; one != NULL; one = next) {
        next = one->next;
        if (!one->claimed) tollbar_pending_end_if_over(one);
    }
    tollbar_release_lock();
}

int tollbar_pending_test(struct tollbar_pending* one) {
    tollbar_take_lock();
    int worthless = 0;
    if (is_over(one))
        worthless = end_quietly(one);
    else
        one->claimed = 0;
    tollbar_release_lock();
    return worthless;
}

/* With several threads in the MPI nobody may keep a participant for long: looks again and again, ever less often. */
static void wait_among_threads(struct tollbar_joined* joined, uint64_t episode) {
    for (int64_t since_ns = 0;;) {
        tollbar_take_lock();
        const int over = tollbar_mpi_test(joined->participant, episode);
        tollbar_release_lock();
        if (over) return;
        joined->p2p.progress(joined->p2p.state);
        tollbar_mpi_pass_time(&since_ns);
    }
}

static void wait_for(struct tollbar_joined* joined, uint64_t episode) {
    if (tollbar_threaded) {
        wait_among_threads(joined, episode);
    } else {
        joined->waits = 1;
        tollbar_mpi_wait(joined->participant, episode);
        joined->waits = 0;
    }
}

static void wait_for_passed(struct tollbar_pending* one) {
    for (int64_t since_ns = 0;;) {
        tollbar_take_lock();
        const int over = is_over(one);
        tollbar_release_lock();
        if (over) return;
        tollbar_mpi_pass_time(&since_ns);
    }
}

static void wait_for_request(void* state) {
    const struct tollbar_pending* one = state;
    tollbar_take_lock();
    struct tollbar_joined* joined = one->joined;
    const uint64_t episode = one->episode;
    const int ours = one->kind == done_by_us;
    tollbar_release_lock();
    if (joined != NULL && ours) wait_for(joined, episode);
    tollbar_pending_advance();
}

void tollbar_pending_settle(MPI_Request request) {
    tollbar_take_lock();
    struct tollbar_pending* one = listed(request);
    tollbar_release_lock();
    if (one != NULL) wait_for_request(one);
}

int tollbar_pending_wait(struct tollbar_pending* one) {
    if (one->kind == done_by_us)
        wait_for(one->joined, one->episode);
    else
        wait_for_passed(one);
    tollbar_take_lock();
    const int worthless = end_quietly(one);
    tollbar_release_lock();
    return worthless;
}

void tollbar_barrier_after_pending(struct tollbar_joined* joined, const void* call_site) {
    tollbar_take_lock();
    const uint64_t episode = tollbar_mpi_arrive(joined->participant, call_site);
    tollbar_release_lock();
    wait_for(joined, episode);
    tollbar_pending_advance();
}

void tollbar_pending_finish(void) {
    tollbar_pending_advance();
    if (joined_progress) tollbar_leave_progress();
    list = NULL; /* a program that ends with pending barriers is wrong already */
    atomic_store_explicit(&tollbar_pending_count, 0, memory_order_relaxed);
    while (unused != NULL) {
        struct tollbar_pending* one = unused;
        MPI_Request request = one->request;
        unused = one->next;
        PMPI_Grequest_complete(request);
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}
