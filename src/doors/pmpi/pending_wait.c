/* SPDX-License-Identifier: Apache-2.0
 * How a process waits while barriers are pending: ever more politely, and so that all of them go on. */
#include "pending_list.h"
#include "request.h"

#include <sched.h>
#include <time.h>

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
        tollbar_take_lock();
        const int over = tollbar_mpi_test(communicator->participant, episode);
        tollbar_release_lock();
        if (over) return;
        communicator->carrier.progress(communicator->carrier.state);
        tollbar_pass_time(turn);
    }
}

static void wait_for_passed(struct tollbar_pending* one) {
    for (long turn = 0;; ++turn) {
        tollbar_take_lock();
        const int over = tollbar_is_over(one);
        tollbar_release_lock();
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
    tollbar_take_lock();
    struct tollbar_communicator* communicator = one->communicator;
    const uint64_t episode = one->episode;
    const int ours = one->kind == done_by_us;
    tollbar_release_lock();
    if (communicator != NULL && ours) wait_for(communicator, episode);
    tollbar_pending_advance();
}

void tollbar_pending_settle(MPI_Request request) {
    tollbar_take_lock();
    struct tollbar_pending* one = tollbar_listed(request);
    tollbar_release_lock();
    if (one != NULL) tollbar_request_wait(one);
}

int tollbar_pending_wait(struct tollbar_pending* one) {
    if (one->kind == done_by_us)
        wait_for(one->communicator, one->episode);
    else
        wait_for_passed(one);
    tollbar_take_lock();
    const int worthless = tollbar_end_quietly(one);
    tollbar_release_lock();
    return worthless;
}

void tollbar_barrier_after_pending(struct tollbar_communicator* communicator, const void* call_site) {
    if (tollbar_threaded) {
        tollbar_take_lock();
        const uint64_t episode = tollbar_mpi_arrive(communicator->participant, call_site);
        tollbar_release_lock();
        wait_among_threads(communicator, episode);
    } else {
        communicator->waits = 1;
        tollbar_mpi_arrive_and_wait(communicator->participant, call_site);
        communicator->waits = 0;
    }
    tollbar_pending_advance();
}
