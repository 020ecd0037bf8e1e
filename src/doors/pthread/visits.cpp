// SPDX-License-Identifier: Apache-2.0
// Slots are given back by the destructor of a pthread key: those run last in a thread, and again where a later one has
// set the key once more.
#include "visits.hpp"

#include <new>
#include <pthread.h>
#include <sched.h>
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

void give_back(void* slot) {
    own = nullptr;
    auto& given = *static_cast<VisitSlot*>(slot);
    given.visit.end();
    given.thread.store(0, std::memory_order_release);  // pairs with take_free()
}

/// In a child after fork(2) the caller is the only thread: the other visits will never end.
void forget_others() {
    for (VisitSlot* slot = state.newest.load(std::memory_order_relaxed); slot != nullptr; slot = slot->next) {
        if (slot != own) slot->visit.end();
        slot->thread.store(slot == own ? gettid() : 0, std::memory_order_relaxed);
    }
}

void prepare() {
    state.has_key = pthread_key_create(&state.key, give_back) == 0;
    pthread_atfork(nullptr, nullptr, forget_others);
}

VisitSlot* take_free(pid_t thread) noexcept {
    for (VisitSlot* slot = state.newest.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
        pid_t nobody = 0;
        if (slot->thread.load(std::memory_order_relaxed) == nobody &&
            slot->thread.compare_exchange_strong(nobody, thread, std::memory_order_acquire, std::memory_order_relaxed))
            return slot;
    }
    return nullptr;
}

VisitSlot* add(pid_t thread) noexcept {
    auto* slot = new (std::nothrow) VisitSlot;
    if (slot == nullptr) return nullptr;
    slot->thread.store(thread, std::memory_order_relaxed);
    slot->next = state.newest.load(std::memory_order_relaxed);
    while (
        !state.newest.compare_exchange_weak(slot->next, slot, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return slot;
}

/// Without memory for one more slot the thread waits until another ends: waiting without one would not be safe.
[[gnu::noinline]] VisitSlot* take() noexcept {
    pthread_once(&state.once, prepare);
    const pid_t thread = gettid();
    VisitSlot* slot = nullptr;
    while ((slot = take_free(thread)) == nullptr && (slot = add(thread)) == nullptr) sched_yield();
    // Without a key, or after the last round of destructors, the slot is lost to others when the thread ends.
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
