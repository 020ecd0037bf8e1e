/* SPDX-License-Identifier: Apache-2.0
 * What is pending, in the order it was begun in. */
#include "pending_list.h"

#include <sched.h>

_Atomic uint32_t tollbar_pending_count;
struct tollbar_pending* tollbar_pending_list;

static atomic_flag lock = ATOMIC_FLAG_INIT;
static int locked; /* of a process whose threads are in the MPI one at a time: keeps progress out */

int tollbar_try_lock(void) {
    if (tollbar_threaded) return !atomic_flag_test_and_set_explicit(&lock, memory_order_acquire);
    if (locked) return 0;
    locked = 1;
    return 1;
}

void tollbar_take_lock(void) {
    while (!tollbar_try_lock()) sched_yield();
}

void tollbar_release_lock(void) {
    if (tollbar_threaded)
        atomic_flag_clear_explicit(&lock, memory_order_release);
    else
        locked = 0;
}

void tollbar_put_on(struct tollbar_pending* one) {
    struct tollbar_pending** end = &tollbar_pending_list;
    while (*end != NULL) end = &(*end)->next;
    one->next = NULL;
    *end = one;
    atomic_fetch_add_explicit(&one->communicator->pending, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&tollbar_pending_count, 1, memory_order_relaxed);
}

void tollbar_take_off(struct tollbar_pending* one) {
    struct tollbar_pending** link = &tollbar_pending_list;
    while (*link != one) link = &(*link)->next;
    *link = one->next;
    atomic_fetch_sub_explicit(&one->communicator->pending, 1, memory_order_release);
    atomic_fetch_sub_explicit(&tollbar_pending_count, 1, memory_order_relaxed);
    one->communicator = NULL;
    one->claimed = 0;
}

struct tollbar_pending* tollbar_listed(MPI_Request request) {
    struct tollbar_pending* one = request == MPI_REQUEST_NULL ? NULL : tollbar_pending_list;
    while (one != NULL && one->request != request) one = one->next;
    return one;
}

int tollbar_is_over(struct tollbar_pending* one) {
    if (one->kind == done_by_mpi) {
        int over = 0;
        PMPI_Test(&one->passed, &over, MPI_STATUS_IGNORE);
        if (over) one->kind = found_over;
    }
    if (one->kind != done_by_us) return one->kind == found_over;
    return !one->communicator->waits && tollbar_mpi_test(one->communicator->participant, one->episode);
}
