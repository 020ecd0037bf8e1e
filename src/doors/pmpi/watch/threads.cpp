// SPDX-License-Identifier: Apache-2.0
// A thread has a seat from its first call on until it ends, and the next thread gets it then.
#include "threads.hpp"

#include "look.hpp"
#include "watched.h"

#include "base/thread_id.hpp"
#include "waiting/owned_lock.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <pthread.h>
#include <unistd.h>
#include <unwind.h>

__thread struct tollbar_here tollbar_here;
int tollbar_besides;

using namespace tollbar::detail::watch;
using tollbar::detail::NativeSync;
using tollbar::detail::OwnedLock;

namespace {

/// Never destroyed: threads may be in calls until the process ends.
struct Seats {
    std::mutex mutex;
    tollbar_row* row = nullptr;
    pthread_key_t at_end{};  ///< of a thread
    bool gives_back = false;
};

/// A thread counts in that communicator. Trivially destroyed: threads may be in calls until the process ends.
constinit std::array<OwnedLock<NativeSync>, tollbar_comms> counts;

Seats& seats() {
    static auto* const only = new Seats;
    return *only;
}

bool is_vacant(const tollbar_seat& seat) {
    return seat.at == 0 || tollbar_state_of(tollbar_own(&seat.at)) == tollbar_vacant;
}

/// The next state of a seat in which no call is.
void put_state(tollbar_seat& seat, tollbar_state state) {
    const std::uint64_t serial = tollbar_serial_of(tollbar_own(&seat.at)) + 1;
    __atomic_store_n(&seat.at, tollbar_at(serial, 0, 0, state),
                     __ATOMIC_RELEASE);  // pairs with the acquire in look.cpp
}

/// A thread for which the row has none left gets one that nobody sees: its collective calls are counted all the same.
void take_seat(struct tollbar_here& here) {
    Seats& self = seats();
    const std::lock_guard lock(self.mutex);
    tollbar_row& row = *self.row;
    tollbar_seat* const vacant = std::ranges::find_if(row.seats, is_vacant);
    const bool is_seen = vacant != std::end(row.seats);
    const bool was_unseen = here.seat != nullptr;
    if (was_unseen && !is_seen) return;
    here.seat = is_seen ? vacant : &here.own;
    tollbar_put(&here.seat->site, 0);
    tollbar_put(&here.seat->number, 0);
    tollbar_put(&here.seat->last, was_unseen ? here.own.last : 0);
    tollbar_put(&here.seat->last_number, was_unseen ? here.own.last_number : 0);
    __atomic_store_n(&here.seat->thread, static_cast<std::int32_t>(tollbar::detail::thread_id()), __ATOMIC_RELAXED);
    put_state(*here.seat, tollbar_outside);
    if (is_seen) tollbar_put(&row.used, std::max(row.used, static_cast<std::uint64_t>(vacant - row.seats) + 1));
    if (is_seen == was_unseen) tollbar_put(&row.unseen, was_unseen ? row.unseen - 1 : row.unseen + 1);
    if (self.gives_back) pthread_setspecific(self.at_end, &here);
}

/// At the end of a thread. The row stays until the process ends, and so does this library.
void give_back(void* of_thread) {
    auto& here = *static_cast<struct tollbar_here*>(of_thread);
    Seats& self = seats();
    const std::lock_guard lock(self.mutex);
    tollbar_row& row = *self.row;
    if (here.seat->last != 0) {
        tollbar_put(&row.last, here.seat->last);
        tollbar_put(&row.last_number, here.seat->last_number);
    }
    if (here.seat == &here.own)
        tollbar_put(&row.unseen, row.unseen - 1);
    else
        put_state(*here.seat, tollbar_vacant);
    here.seat = nullptr;  // another destructor of the thread may call the MPI
    here.age = 0;
}

/// The frame and the return address of a hook that may be on this stack still.
struct Outer {
    std::uintptr_t frame;
    std::uint64_t site;
    bool is_there = false;
    bool is_past = false;  ///< frames above it are on the stack
};

_Unwind_Reason_Code look_for(_Unwind_Context* context, void* of) {
    Outer& outer = *static_cast<Outer*>(of);
    const std::uintptr_t frame = _Unwind_GetCFA(context);
    outer.is_there = frame == outer.frame && _Unwind_GetIP(context) == outer.site;
    outer.is_past = frame >= outer.frame;
    return outer.is_past ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/// The arguments are those of tollbar_put_counted_in_turn(), which so jumps here and keeps no register for it.
[[gnu::noinline, gnu::cold]] std::uint64_t put_counted_besides(const tollbar_known* known, std::uint64_t what,
                                                               std::uint64_t gives, std::uint64_t gets,
                                                               std::uint64_t site, std::uint64_t entered_ns) {
    const tollbar_counted counted{what, gives, gets, site, entered_ns};
    OwnedLock<NativeSync>& turn = counts[known->index - 1];
    const bool was_owned = turn.lock(reinterpret_cast<std::uintptr_t>(&::tollbar_here));
    const std::uint64_t number = tollbar_put_counted(known->shared, &counted);
    turn.unlock(was_owned);
    return number;
}

}  // namespace

namespace tollbar::detail::watch {

void begin_seats(tollbar_row& row, bool several) noexcept {
    Seats& self = seats();
    if (several && !NativeSync::register_for_heavy_fence())
        for (OwnedLock<NativeSync>& one : counts) one.share();
    self.row = &row;
    self.gives_back = pthread_key_create(&self.at_end, give_back) == 0;
}

}  // namespace tollbar::detail::watch

void tollbar_begin_anew() {
    struct tollbar_here& here = ::tollbar_here;
    if (here.seat == nullptr || here.seat == &here.own) take_seat(here);
    here.age = __atomic_load_n(&tollbar_age, __ATOMIC_RELAXED);
    for (tollbar_kept_comm& kept : here.comms) kept = {};
}

int tollbar_was_jumped_out_of(const void* frame) {
    // The stack grows downwards, and a call of the MPI's own has its frame below the one that it belongs to.
    if (reinterpret_cast<std::uintptr_t>(frame) >= reinterpret_cast<std::uintptr_t>(::tollbar_here.frame)) return 1;
    Outer outer{.frame = reinterpret_cast<std::uintptr_t>(::tollbar_here.frame),
                .site = tollbar_own(&::tollbar_here.seat->site)};
    _Unwind_Backtrace(look_for, &outer);
    return outer.is_past && !outer.is_there;
}

std::uint64_t tollbar_put_counted_in_turn(const tollbar_known* known, std::uint64_t what, std::uint64_t gives,
                                          std::uint64_t gets, std::uint64_t site, std::uint64_t entered_ns) {
    OwnedLock<NativeSync>& turn = counts[known->index - 1];
    if (!turn.lock_as_owner(reinterpret_cast<std::uintptr_t>(&::tollbar_here)))
        return put_counted_besides(known, what, gives, gets, site, entered_ns);
    const tollbar_counted counted{what, gives, gets, site, entered_ns};
    const std::uint64_t number = tollbar_put_counted(known->shared, &counted);
    turn.unlock(true);
    return number;
}

void tollbar_put_later(const tollbar_known* known, std::uint64_t number, const tollbar_counted* bytes) {
    OwnedLock<NativeSync>& turn = counts[known->index - 1];
    const bool takes_turns = tollbar_has_besides(tollbar_several) != 0;
    const bool was_owned = takes_turns && turn.lock(reinterpret_cast<std::uintptr_t>(&::tollbar_here));
    if (tollbar_own(&known->shared->count) - number < tollbar_kept) {  // else it is none of those that are kept
        tollbar_counted& counted = known->shared->last[number % tollbar_kept];
        tollbar_put(&counted.gives, bytes->gives);
        tollbar_put(&counted.gets, bytes->gets);
    }
    if (takes_turns) turn.unlock(was_owned);
}

std::uint64_t tollbar_time_ns() { return now_ns(); }
