// SPDX-License-Identifier: Apache-2.0
// The rows of pending.h and their lock. Episodes of a participant end in order, so that the first one which is not over
// ends the look at its row.
#include "pending.h"

#include "base/report.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace {

std::atomic_flag lock;
tollbar_row* rows;  ///< those in which something is pending
std::atomic<std::uint32_t> pending_in_all;
void (*when_some)() = [] {};
void (*when_none)() = [] {};

/// Memory order: acquire when true; pairs with tollbar_release_lock().
bool try_lock() { return !lock.test_and_set(std::memory_order_acquire); }

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Nobody waits inside the participant, so the participant cannot tell of the missing by itself.
void report_if_late(tollbar_row& row) {
    tollbar_pending& first = *row.first;
    const double now = now_s();
    if (!tollbar::detail::report_is_due(now, row.timeout_s, first.report_at_s)) return;
    tollbar_mpi_report(row.participant, now - first.since_s);
}

/// Takes off the first of the row, which is over. Memory order: release: what was done with the participant is before
/// a look that finds nothing pending.
tollbar_pending* take_first(tollbar_row& row) {
    tollbar_pending* first = row.first;
    first->failed = tollbar_mpi_failed(row.participant, first->episode);
    row.first = first->next;
    if (row.first == nullptr) {
        tollbar_row** link = &rows;
        while (*link != &row) link = &(*link)->next;
        *link = row.next;
        if (rows == nullptr) when_none();
    }
    pending_in_all.fetch_sub(1, std::memory_order_relaxed);
    // Pairs with tollbar_row_is_pending(); a reader of zero has the participant to itself.
    std::atomic_ref(row.count).fetch_sub(1, std::memory_order_release);
    return first;
}

bool first_is_over(const tollbar_row& row) {
    return row.held == 0 && tollbar_mpi_test(row.participant, row.first->episode) != 0;
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

void tollbar_release_lock() { lock.clear(std::memory_order_release); }

void tollbar_pending_watch(void (*some)(), void (*none)()) {
    when_some = some;
    when_none = none;
}

void tollbar_pending_put_on(tollbar_pending* pending, tollbar_row* row) {
    pending->next = nullptr;
    if (row->timeout_s > 0) pending->report_at_s = (pending->since_s = now_s()) + row->timeout_s;
    if (row->first != nullptr) {
        row->last->next = pending;
    } else {
        row->first = pending;
        if (rows == nullptr) when_some();
        row->next = rows;
        rows = row;
    }
    row->last = pending;
    std::atomic_ref(row->count).fetch_add(1, std::memory_order_relaxed);
    pending_in_all.fetch_add(1, std::memory_order_relaxed);
}

int tollbar_pending_advance() {
    if (pending_in_all.load(std::memory_order_relaxed) == 0 || !try_lock()) return 0;
    tollbar_pending* over = nullptr;
    tollbar_pending** end = &over;
    for (tollbar_row *row = rows, *next = nullptr; row != nullptr; row = next) {
        next = row->next;
        const bool reports = row->timeout_s > 0 && row->held == 0;
        while (row->first != nullptr && first_is_over(*row)) {
            *end = take_first(*row);
            end = &(*end)->next;
        }
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

void tollbar_row_finish(tollbar_row* row, const tollbar_pending* last) {
    set_held(*row, 1);
    for (const tollbar_pending* ended = nullptr; row->first != nullptr && (last == nullptr || ended != last);) {
        tollbar_mpi_wait(row->participant, row->first->episode);
        tollbar_take_lock();
        tollbar_pending* first = take_first(*row);
        tollbar_release_lock();
        first->end(first);
        ended = first;
    }
    set_held(*row, 0);
}
