// SPDX-License-Identifier: Apache-2.0
// The rows of pending.h and their lock. Episodes of a participant end in order, so that the first one which is not over
// ends the look at its row.
#include "pending.h"

#include <atomic>
#include <chrono>
#include <thread>

int tollbar_threaded;
tollbar_row* tollbar_rows;
std::uint32_t tollbar_pending_count;

namespace {

std::atomic_flag lock;
bool locked;  // of a process whose threads come one at a time: keeps progress out
void (*when_some)() = [] {};
void (*when_none)() = [] {};

/// Memory order: acquire when true; pairs with tollbar_release_lock().
bool try_lock() {
    if (tollbar_threaded != 0) return !lock.test_and_set(std::memory_order_acquire);
    if (locked) return false;
    return locked = true;
}

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Nobody waits inside the participant for it, so the participant cannot tell of the missing by itself.
void report_if_late(tollbar_row& row) {
    tollbar_pending& first = *row.first;
    const double now = now_s();
    if (now < first.report_at_s) return;
    first.report_at_s = now + row.timeout_s;
    tollbar_mpi_report(row.participant, now - first.since_s);
}

/// Takes off those that are over and nobody has claimed, and appends them to the list that ends at `end`.
tollbar_pending** take_over(tollbar_row& row, tollbar_pending** end) {
    for (tollbar_pending *one = row.first, *next = nullptr; one != nullptr; one = next) {
        next = one->next;
        if (one->claimed != 0) continue;
        if (tollbar_pending_is_over(one) != 0) {
            tollbar_pending_take_off(one);
            *end = one;
            end = &one->next;
        } else if (one->over == nullptr) {
            break;
        }
    }
    return end;
}

void set_held(tollbar_row& row, int held) {
    tollbar_take_lock();
    row.held = held;
    tollbar_release_lock();
}

}  // namespace

void tollbar_take_lock() {
    while (!try_lock()) std::this_thread::yield();
}

void tollbar_release_lock() {
    if (tollbar_threaded != 0)
        lock.clear(std::memory_order_release);
    else
        locked = false;
}

void tollbar_pending_watch(void (*some)(), void (*none)()) {
    when_some = some;
    when_none = none;
}

void tollbar_pending_put_on(tollbar_pending* pending, tollbar_row* row) {
    pending->row = row;
    pending->next = nullptr;
    if (row->timeout_s > 0) pending->report_at_s = (pending->since_s = now_s()) + row->timeout_s;
    if (row->first != nullptr) {
        row->last->next = pending;
    } else {
        row->first = pending;
        if (tollbar_rows == nullptr) when_some();
        row->next = tollbar_rows;
        tollbar_rows = row;
    }
    row->last = pending;
    std::atomic_ref(row->count).fetch_add(1, std::memory_order_relaxed);
    std::atomic_ref(tollbar_pending_count).fetch_add(1, std::memory_order_relaxed);
}

int tollbar_pending_is_over(tollbar_pending* pending) {
    if (pending->over != nullptr) return pending->over(pending);
    return pending->row->held == 0 && tollbar_mpi_test(pending->row->participant, pending->episode) != 0 ? 1 : 0;
}

void tollbar_pending_take_off(tollbar_pending* pending) {
    tollbar_row* row = pending->row;
    pending->failed = pending->over == nullptr ? tollbar_mpi_failed(row->participant, pending->episode) : 0;
    pending->row = nullptr;
    pending->claimed = 0;
    tollbar_pending* before = nullptr;
    for (tollbar_pending* one = row->first; one != pending; one = one->next) before = one;
    (before == nullptr ? row->first : before->next) = pending->next;
    if (row->last == pending) row->last = before;
    if (row->first == nullptr) {
        tollbar_row** link = &tollbar_rows;
        while (*link != row) link = &(*link)->next;
        *link = row->next;
        if (tollbar_rows == nullptr) when_none();
    }
    std::atomic_ref(tollbar_pending_count).fetch_sub(1, std::memory_order_relaxed);
    // Pairs with tollbar_row_is_pending(); whoever reads zero may free the row.
    std::atomic_ref(row->count).fetch_sub(1, std::memory_order_release);
}

int tollbar_pending_advance() {
    if (tollbar_anything_pending() == 0 || !try_lock()) return 0;
    tollbar_pending* over = nullptr;
    tollbar_pending** end = &over;
    for (tollbar_row *row = tollbar_rows, *next = nullptr; row != nullptr; row = next) {
        next = row->next;
        const bool reports = row->timeout_s > 0 && row->held == 0;
        end = take_over(*row, end);
        if (reports && row->first != nullptr) report_if_late(*row);
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

void tollbar_row_wait(tollbar_row* row, std::uint64_t episode) {
    set_held(*row, 1);
    tollbar_mpi_wait(row->participant, episode);
    set_held(*row, 0);
}

void tollbar_row_finish(tollbar_row* row, const tollbar_pending* last) {
    set_held(*row, 1);
    for (const tollbar_pending* ended = nullptr; row->first != nullptr && (last == nullptr || ended != last);) {
        tollbar_pending* first = row->first;
        tollbar_mpi_wait(row->participant, first->episode);
        tollbar_take_lock();
        tollbar_pending_take_off(first);
        tollbar_release_lock();
        first->end(first);
        ended = first;
    }
    set_held(*row, 0);
}

void tollbar_pending_forget() {
    tollbar_rows = nullptr;
    std::atomic_ref(tollbar_pending_count).store(0, std::memory_order_relaxed);
}
