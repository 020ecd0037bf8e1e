// SPDX-License-Identifier: Apache-2.0
// A lock that its first thread takes without a locked instruction, for as long as no other thread wants it: biased
// locking (Kawachiya, Koseki, Onodera, "Lock Reservation", OOPSLA 2002), with the asymmetric fence of membarrier(2).
#pragma once

#include <tollbar/detail/sync.hpp>

#include <chrono>
#include <cstdint>

namespace tollbar::detail {

template <class Sync>
class alignas(64) OwnedLock {
public:
    /// Nobody owns it from now on. Before any thread takes it, where heavy_fence is not to be had.
    void share() noexcept { owner_.store(all, std::memory_order_relaxed); }

    /// `self`: not 0, and of no other thread that is alive; a later one may have it. Gives what unlock() needs. Not
    /// recursive. Memory order: acquires what the last unlock() released.
    bool lock(std::uintptr_t self) noexcept {
        const bool is_owner = lock_as_owner(self);
        if (!is_owner) lock_besides(self);
        return is_owner;
    }

    /// `was_owned`: what lock() gave. Memory order: releases.
    void unlock(bool was_owned) noexcept {
        (was_owned ? inside_ : taken_).store(0, std::memory_order_release);  // pairs with the acquires below
    }

    /// The half of lock() that calls nothing, for a caller that needs no frame then. False: the lock is not taken.
    bool lock_as_owner(std::uintptr_t self) noexcept {
        if (owner_.load(std::memory_order_relaxed) != self) return false;
        inside_.store(1, std::memory_order_relaxed);
        Sync::light_fence();  // pairs with the heavy one: this thread sees the other's take-over, or is seen inside
        if (owner_.load(std::memory_order_relaxed) == self) return true;
        inside_.store(0, std::memory_order_release);
        return false;
    }

private:
    static constexpr std::uintptr_t all = ~std::uintptr_t{0};

    [[gnu::noinline, gnu::cold]] void lock_besides(std::uintptr_t self) noexcept {
        std::uintptr_t free = 0;
        while (!taken_.compare_exchange_weak(free, 1, std::memory_order_acquire, std::memory_order_relaxed)) {
            free = 0;
            Sync::yield();
        }
        const std::uintptr_t owner = owner_.load(std::memory_order_relaxed);
        if (owner == 0) owner_.store(self, std::memory_order_relaxed);
        if (owner == 0 || owner == all || owner == self) return;
        owner_.store(all, std::memory_order_relaxed);
        // A filter of system calls may have come meanwhile. Cores hold no store back for so long.
        if (!Sync::heavy_fence(Scope::process)) Sync::nap_until(deadline_after(std::chrono::milliseconds(10)));
        while (inside_.load(std::memory_order_acquire) != 0) Sync::yield();
    }

    typename Sync::template Atomic<std::uintptr_t> owner_{0};
    typename Sync::template Atomic<std::uintptr_t> inside_{0};  ///< written by the owner, and by one that was
    typename Sync::template Atomic<std::uintptr_t> taken_{0};   ///< by one of several
};

}  // namespace tollbar::detail
