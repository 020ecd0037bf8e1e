// SPDX-License-Identifier: Apache-2.0
// The queues of pending.h and their lock. Episodes of a participant end in order, so that the first one which is not
// over ends the look at its queue.
#include "pending.h"

#include "missing/reporting.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

namespace {

std::atomic_flag lock;
tollbar_queue* queues;  ///< those in which something is pending
std::atomic<std::uint32_t> pending_in_all;
void (*when_some)() = [] {};
void (*when_none)() = [] {};

/// Memory order: acquire when true; pairs with tollbar_release_lock().
bool try_lock() { return !lock.test_and_set(std::memory_order_acquire); }

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Nobody waits inside the participant, so the participant cannot tell of the missing by itself.
void report_if_late(tollbar_queue& queue) {
    tollbar_pending& first = *queue.first;
    const double now = now_s();
    if (!tollbar::detail::report_is_due(now, queue.timeout_s, first.report_at_s)) return;
    tollbar_mpi_report(queue.participant, now - first.since_s);
}

/// Takes off the first of the queue, which is over. Memory order: release: what was done with the participant is before
/// a look that finds nothing pending.
tollbar_pending* take_first(tollbar_queue& queue) {
    tollbar_pending* first = queue.first;
    if (first->episode != 0) first->failed = tollbar_mpi_failed(queue.participant, first->episode);
    queue.first = first->next;
    if (queue.first == nullptr) {
        tollbar_queue** link = &queues;
        while (*link != &queue) link = &(*link)->next;
        *link = queue.next;
        if (queues == nullptr) when_none();
    }
    pending_in_all.fetch_sub(1, std::memory_order_relaxed);
    // Pairs with tollbar_queue_is_pending(); a reader of zero has the participant to itself.
    std::atomic_ref(queue.count).fetch_sub(1, std::memory_order_release);
    return first;
}

/// Goes on with the meeting that is the first of the queue. Once it is over, those behind it arrive.
bool meets(tollbar_queue& queue, tollbar_patience patience) {
    int failed = 0;
    if (tollbar_mpi_go_on_joining(queue.joining, patience, &failed, &queue.participant) == 0) return false;
    queue.joining = nullptr;
    queue.joined(&queue, failed);
    queue.first->failed = failed == EIO ? EIO : 0;
    for (tollbar_pending* next = queue.first->next; next != nullptr; next = next->next) {
        if (queue.participant != nullptr)
            next->episode = tollbar_mpi_arrive(queue.participant, nullptr);
        else
            next->failed = EIO;
    }
    return true;
}

bool first_is_over(tollbar_queue& queue) {
    if (queue.held != 0) return false;
    if (queue.joining != nullptr) return meets(queue, TOLLBAR_NEVER_BLOCKS);
    return queue.first->episode == 0 || tollbar_mpi_test(queue.participant, queue.first->episode) != 0;
}

void set_held(tollbar_queue& queue, int held) {
    tollbar_take_lock();
    queue.held = held;
    tollbar_release_lock();
}

}  // namespace

void tollbar_take_lock() {
    while (!try_lock()) std::this_thread::yield();
}

void tollbar_release_lock() { lock.clear(std::memory_order_release); }

void tollbar_pending_watch(void (*some)(), void (*none)()) {
    when_some = some;
    when_none = none;
}

void tollbar_pending_put_on(tollbar_pending* pending, tollbar_queue* queue) {
    pending->next = nullptr;
    if (queue->timeout_s > 0) pending->report_at_s = (pending->since_s = now_s()) + queue->timeout_s;
    if (queue->first != nullptr) {
        queue->last->next = pending;
    } else {
        queue->first = pending;
        if (queues == nullptr) when_some();
        queue->next = queues;
        queues = queue;
    }
    queue->last = pending;
    std::atomic_ref(queue->count).fetch_add(1, std::memory_order_relaxed);
    pending_in_all.fetch_add(1, std::memory_order_relaxed);
}

int tollbar_pending_advance() {
    if (pending_in_all.load(std::memory_order_relaxed) == 0 || !try_lock()) return 0;
    tollbar_pending* over = nullptr;
    tollbar_pending** end = &over;
    for (tollbar_queue *queue = queues, *next = nullptr; queue != nullptr; queue = next) {
        next = queue->next;
        const bool reports = queue->timeout_s > 0 && queue->held == 0;
        while (queue->first != nullptr && first_is_over(*queue)) {
            *end = take_first(*queue);
            end = &(*end)->next;
        }
        if (reports && queue->first != nullptr && queue->joining == nullptr) report_if_late(*queue);
    }
    *end = nullptr;
    tollbar_release_lock();
    int ended = 0;
    for (tollbar_pending* next = nullptr; over != nullptr; over = next, ++ended) {
        next = over->next;
        over->end(over);  // which may free it
    }
    return ended;
}

void tollbar_queue_finish(tollbar_queue* queue, const tollbar_pending* last) {
    set_held(*queue, 1);
    for (const tollbar_pending* ended = nullptr; queue->first != nullptr && (last == nullptr || ended != last);) {
        if (queue->joining != nullptr)
            meets(*queue, TOLLBAR_BLOCKS);
        else if (queue->first->episode != 0)
            tollbar_mpi_wait(queue->participant, queue->first->episode);
        tollbar_take_lock();
        tollbar_pending* first = take_first(*queue);
        tollbar_release_lock();
        first->end(first);
        ended = first;
    }
    set_held(*queue, 0);
}
