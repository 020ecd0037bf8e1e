// SPDX-License-Identifier: Apache-2.0
// Slots are given back by the destructor of a pthread key: those run last in a thread, and again where a later one has
// set the key once more, but only a few times.
#include "visits.hpp"

#include "base/kept_errno.hpp"
#include "base/thread_id.hpp"

#include <cerrno>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tollbar::detail::visits {

namespace {

struct State {
    std::atomic<VisitSlot*> newest{nullptr};
    pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_key_t key = 0;
    bool has_key = false;
};

constinit State state;
constinit thread_local VisitSlot* own = nullptr;
constinit thread_local bool is_ending = false;  ///< the thread has given its slot back

/// A word of VisitSlot::holder: {how often taken 31 | whether the thread may end without giving it back 1 | thread 32}.
constexpr std::uint64_t may_be_left = std::uint64_t{1} << 32;

std::uint64_t taken_by(pid_t thread, bool left, std::uint64_t before) noexcept {
    const std::uint64_t again = (before | (2 * may_be_left - 1)) + 1;
    return again | (left ? may_be_left : 0) | static_cast<std::uint32_t>(thread);
}

std::uint64_t taken_by_nobody(std::uint64_t before) noexcept { return before & ~(2 * may_be_left - 1); }

void give_back(void* slot) {
    own = nullptr;
    is_ending = true;
    auto& given = *static_cast<VisitSlot*>(slot);
    given.visit.end();
    const std::uint64_t now = given.holder.load(std::memory_order_relaxed);
    given.holder.store(taken_by_nobody(now), std::memory_order_release);  // pairs with take_free()
}

bool has_ended(pid_t thread) noexcept {
    const c_door::KeptErrno kept;
    return syscall(SYS_tgkill, getpid(), thread, 0) != 0 && errno == ESRCH;
}

bool is_free(std::uint64_t holder) noexcept {
    const auto thread = static_cast<pid_t>(holder);
    return thread == 0 || ((holder & may_be_left) != 0 && has_ended(thread));
}

/// In a child after fork(2) the caller is the only thread: the other visits will never end.
void forget_others() {
    for (VisitSlot* slot = state.newest.load(std::memory_order_relaxed); slot != nullptr; slot = slot->next) {
        if (slot != own) slot->visit.end();
        const std::uint64_t before = slot->holder.load(std::memory_order_relaxed);
        slot->holder.store(slot == own ? taken_by(thread_id(), false, before) : taken_by_nobody(before),
                           std::memory_order_relaxed);
    }
}

void prepare() {
    state.has_key = pthread_key_create(&state.key, give_back) == 0;
    pthread_atfork(nullptr, nullptr, forget_others);
}

VisitSlot* take_free(pid_t thread, bool left) noexcept {
    for (VisitSlot* slot = state.newest.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
        std::uint64_t holder = slot->holder.load(std::memory_order_relaxed);
        if (is_free(holder) &&
            slot->holder.compare_exchange_strong(holder, taken_by(thread, left, holder), std::memory_order_acquire,
                                                 std::memory_order_relaxed))
            return slot;
    }
    return nullptr;
}

VisitSlot* add(pid_t thread, bool left) noexcept {
    auto* slot = new (std::nothrow) VisitSlot;
    if (slot == nullptr) return nullptr;
    slot->holder.store(taken_by(thread, left, 0), std::memory_order_relaxed);
    slot->next = state.newest.load(std::memory_order_relaxed);
    while (
        !state.newest.compare_exchange_weak(slot->next, slot, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return slot;
}

/// Without memory for one more slot the thread waits until another ends: waiting without one would not be safe.
[[gnu::noinline]] VisitSlot* take() noexcept {
    pthread_once(&state.once, prepare);
    const pid_t thread = thread_id();
    const bool left = is_ending || !state.has_key;  // this may be the last round of destructors
    VisitSlot* slot = nullptr;
    while ((slot = take_free(thread, left)) == nullptr && (slot = add(thread, left)) == nullptr) sched_yield();
    if (state.has_key) pthread_setspecific(state.key, slot);
    return slot;
}

}  // namespace

VisitSlot& mine() noexcept {
    if (own == nullptr) [[unlikely]]
        own = take();
    return *own;
}

const VisitSlot* newest() noexcept { return state.newest.load(std::memory_order_acquire); }

}  // namespace tollbar::detail::visits
