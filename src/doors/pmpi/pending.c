/* SPDX-License-Identifier: Apache-2.0
 * One list of all pending MPI_Ibarriers of the process, looked through by whoever makes progress. */
#include "pending.h"

#include "host_mpi.h"
#include "request.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

struct tollbar_pending {
    MPI_Request request;
    struct tollbar_communicator* communicator; /* NULL while nobody uses it */
    uint64_t episode;
    MPI_Request passed; /* the MPI's, for a barrier that the MPI does */
    enum { done_by_us, done_by_mpi, found_over } kind;
    int claimed; /* a hook waits for it and ends it; progress does not */
    struct tollbar_pending* next;
};

_Atomic uint32_t tollbar_pending_count;

/* Guards what follows, and the participants of communicators with pending requests. Held for a few instructions, or
 * while a request of the MPI's is tested; the progress that this makes does not wait for the lock. */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static int locked; /* of a process whose threads are in the MPI one at a time: keeps progress out */
static struct tollbar_pending* pending; /* oldest first */
static struct tollbar_pending* unused;
static int joined_progress;

/* Memory order: acquire, when nonzero; pairs with release_lock(). */
static int try_lock(void) {
    if (tollbar_threaded) return !atomic_flag_test_and_set_explicit(&lock, memory_order_acquire);
    if (locked) return 0;
    locked = 1;
    return 1;
}

/* Memory order: acquire; pairs with release_lock(). */
static void take_lock(void) {
    while (!try_lock()) sched_yield();
}

/* Memory order: release; pairs with try_lock(). */
static void release_lock(void) {
    if (tollbar_threaded)
        atomic_flag_clear_explicit(&lock, memory_order_release);
    else
        locked = 0;
}

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
    take_lock();
    if (!asked) joined_progress = tollbar_join_progress(tollbar_pending_advance);
    asked = 1;
    const int answer = joined_progress;
    release_lock();
    return answer;
}

static struct tollbar_pending* an_unused(void) {
    take_lock();
    struct tollbar_pending* one = unused;
    if (one != NULL) unused = one->next;
    release_lock();
    if (one != NULL) return one;
    one = calloc(1, sizeof *one);
    if (one != NULL && tollbar_make_request(freed_by_mpi, one, &one->request) != MPI_SUCCESS) {
        free(one);
        return NULL;
    }
    return one;
}

/* Under the lock. */
static int is_over(struct tollbar_pending* one) {
    if (one->kind == done_by_mpi) {
        int over = 0;
        PMPI_Test(&one->passed, &over, MPI_STATUS_IGNORE);
        if (over) one->kind = found_over;
    }
    if (one->kind != done_by_us) return one->kind == found_over;
    return !one->communicator->waits && tollbar_mpi_test(one->communicator->participant, one->episode);
}

/* Under the lock. Release: what was done with the participant is before whoever finds that nothing is pending. */
static void take_off(struct tollbar_pending* one) {
    struct tollbar_pending** link = &pending;
    while (*link != one) link = &(*link)->next;
    *link = one->next;
    atomic_fetch_sub_explicit(&one->communicator->pending, 1, memory_order_release);
    atomic_fetch_sub_explicit(&tollbar_pending_count, 1, memory_order_relaxed);
    one->communicator = NULL;
    one->claimed = 0;
}

/* Under the lock. The MPI has not been told that the request is over, so it can stand for another barrier. */
static void keep(struct tollbar_pending* one) {
    take_off(one);
    one->next = unused;
    unused = one;
}

/* Under the lock, its communicator set. */
static void put_on(struct tollbar_pending* one) {
    struct tollbar_pending** end = &pending;
    while (*end != NULL) end = &(*end)->next;
    one->next = NULL;
    *end = one;
    atomic_fetch_add_explicit(&one->communicator->pending, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&tollbar_pending_count, 1, memory_order_relaxed);
}

int tollbar_pending_start(struct tollbar_communicator* communicator, const void* call_site, MPI_Request* request) {
    struct tollbar_pending* one = an_unused();
    if (one == NULL) return MPI_ERR_NO_MEM;
    take_lock();
    one->communicator = communicator;
    one->kind = done_by_us;
    one->episode = tollbar_mpi_arrive(communicator->participant, call_site);
    ++communicator->ibarriers;
    put_on(one);
    release_lock();
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
    take_lock();
    one->communicator = communicator;
    one->kind = done_by_mpi;
    one->passed = passed;
    put_on(one);
    release_lock();
    return MPI_SUCCESS;
}

/* Under the lock, because a hook or progress may be about to end it. */
static int anything_passed(const struct tollbar_communicator* communicator) {
    int found = 0;
    take_lock();
    for (struct tollbar_pending *one = pending, *next; one != NULL; one = next) {
        next = one->next;
        if (one->communicator == communicator && one->kind == done_by_mpi) found |= !is_over(one);
    }
    release_lock();
    return found;
}

void tollbar_pending_finish_passed(struct tollbar_communicator* communicator) {
    for (long turn = 0; tollbar_anything_pending() && anything_passed(communicator); ++turn) tollbar_pass_time(turn);
}

struct tollbar_pending* tollbar_pending_find(MPI_Request request) {
    take_lock();
    struct tollbar_pending* one = pending;
    while (one != NULL && one->request != request) one = one->next;
    if (one != NULL) one->claimed = 1;
    release_lock();
    return one;
}

void tollbar_pending_advance(void) {
    if (!tollbar_anything_pending() || !try_lock()) return;
    for (struct tollbar_pending *one = pending, *next; one != NULL; one = next) {
        next = one->next;
        if (one->claimed || !is_over(one)) continue;
        take_off(one);
        PMPI_Grequest_complete(one->request); /* frees it, now or when the user asks for it */
    }
    release_lock();
}

int tollbar_pending_test(struct tollbar_pending* one) {
    take_lock();
    const int over = is_over(one);
    if (over)
        keep(one);
    else
        one->claimed = 0;
    release_lock();
    return over;
}

void tollbar_pass_time(long turn) {
    const long polls = 100, yields = 200, step_ns = 1000, longest_ns = 4000000;
    if (turn < polls) return;
    if (turn < yields) {
        sched_yield();
        return;
    }
    /* A few hundred naps of some microseconds first: whoever waits for long costs little, whoever waits shortly is not
     * late. */
    const long nap_ns = (turn - yields) * step_ns;
    nanosleep(&(struct timespec){.tv_nsec = nap_ns < longest_ns ? nap_ns : longest_ns}, NULL);
}

/* With several threads in the MPI nobody may keep a participant for long: looks again and again, ever less often. */
static void wait_among_threads(struct tollbar_communicator* communicator, uint64_t episode) {
    for (long turn = 0;; ++turn) {
        take_lock();
        const int over = tollbar_mpi_test(communicator->participant, episode);
        release_lock();
        if (over) return;
        communicator->carrier.progress(communicator->carrier.state);
        tollbar_pass_time(turn);
    }
}

static void wait_for_passed(struct tollbar_pending* one) {
    for (long turn = 0;; ++turn) {
        take_lock();
        const int over = is_over(one);
        release_lock();
        if (over) return;
        tollbar_pass_time(turn);
    }
}

static void wait_for(struct tollbar_communicator* communicator, uint64_t episode) {
    if (tollbar_threaded) {
        wait_among_threads(communicator, episode);
    } else {
        communicator->waits = 1;
        tollbar_mpi_wait(communicator->participant, episode);
        communicator->waits = 0;
    }
}

void tollbar_request_wait(void* state) {
    const struct tollbar_pending* one = state;
    take_lock();
    struct tollbar_communicator* communicator = one->communicator;
    const uint64_t episode = one->episode;
    const int ours = one->kind == done_by_us;
    release_lock();
    if (communicator != NULL && ours) wait_for(communicator, episode);
    tollbar_pending_advance();
}

void tollbar_pending_settle(MPI_Request request) {
    take_lock();
    struct tollbar_pending* one = pending;
    while (one != NULL && one->request != request) one = one->next;
    release_lock();
    if (one != NULL) tollbar_request_wait(one);
}

void tollbar_pending_wait(struct tollbar_pending* one) {
    if (one->kind == done_by_us)
        wait_for(one->communicator, one->episode);
    else
        wait_for_passed(one);
    take_lock();
    keep(one);
    release_lock();
}

void tollbar_barrier_after_pending(struct tollbar_communicator* communicator, const void* call_site) {
    if (tollbar_threaded) {
        take_lock();
        const uint64_t episode = tollbar_mpi_arrive(communicator->participant, call_site);
        release_lock();
        wait_among_threads(communicator, episode);
    } else {
        communicator->waits = 1;
        tollbar_mpi_arrive_and_wait(communicator->participant, call_site);
        communicator->waits = 0;
    }
    tollbar_pending_advance();
}

void tollbar_pending_finish(void) {
    tollbar_pending_advance();
    if (joined_progress) tollbar_leave_progress();
    pending = NULL; /* a program that ends with pending barriers is wrong already */
    atomic_store_explicit(&tollbar_pending_count, 0, memory_order_relaxed);
    while (unused != NULL) {
        struct tollbar_pending* one = unused;
        MPI_Request request = one->request;
        unused = one->next;
        PMPI_Grequest_complete(request);
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}
