// SPDX-License-Identifier: Apache-2.0
// The thread that may use a barrier: one at a time, by the rules of the thread level; a violation is noticed.
#pragma once

#include <tollbar/detail/sync.hpp>

#include <atomic>
#include <cstdint>

namespace tollbar::detail::shmem {

/// Held by the thread whose call is at work in a barrier.
///
///     if (!lock.enter()) return fail(EPERM, ...);
///     ...
///     lock.leave();
class CallerLock {
public:
    /// `any_thread`: the level is SERIALIZED or MULTIPLE. Else only the calling thread may ever enter.
    explicit CallerLock(bool any_thread) noexcept : any_thread_(any_thread), owner_(this_thread()) {}

    /// False when another thread is inside, or the caller may not be.
    /// Memory order: acquire, pairs with leave().
    bool enter() noexcept {
        if (!any_thread_) {
            if (owner_ != this_thread()) return false;
            inside_.store(caller, std::memory_order_relaxed);
            return true;
        }
        for (std::uint8_t seen = nobody; !inside_.compare_exchange_weak(seen, caller, std::memory_order_acquire);
             seen = nobody) {
            if (seen == caller) return false;
            NativeSync::pause();
        }
        return true;
    }

    /// Enters without being called, to pass signals on; false when somebody is inside.
    /// Memory order: as enter().
    bool enter_uncalled() noexcept {
        if (!any_thread_ && owner_ != this_thread()) return false;
        std::uint8_t seen = nobody;
        return inside_.compare_exchange_strong(seen, uncalled, std::memory_order_acquire);
    }

    /// Memory order: release.
    void leave() noexcept { inside_.store(nobody, std::memory_order_release); }

private:
    static constexpr std::uint8_t nobody = 0, caller = 1, uncalled = 2;

    static const void* this_thread() noexcept {
        static thread_local char own;
        return &own;
    }

    const bool any_thread_;
    const void* const owner_;
    std::atomic<std::uint8_t> inside_{nobody};
};

}  // namespace tollbar::detail::shmem
