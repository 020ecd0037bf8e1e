// SPDX-License-Identifier: Apache-2.0
// Post, test and wait: checks the caller and the state of the episode, and says when the episode is over.
#include "barrier.hpp"
#include "missing.hpp"
#include "registry.hpp"

#include "base/c_door.hpp"
#include "base/environment.hpp"
#include "missing/reporting.hpp"

#include <cerrno>
#include <chrono>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::shmem;
using c_door::fail;
using c_door::guarded;
using c_door::Refusal;

namespace {

using Clock = std::chrono::steady_clock;

[[gnu::cold]] int refuse(int error, const char* before, const char* after) noexcept {
    return guarded([&] { throw Refusal{error, before + pe_text(shmem_my_pe()) + after}; });
}

/// Does `action` while no other call is inside the barrier; or says why not.
template <class Action>
int inside(tollbar_shmem_barrier* barrier, Action&& action) noexcept {
    if (barrier == nullptr) return fail(EINVAL, "barrier is NULL");
    if (!barrier->runner) return refuse(ESRCH, "", " is not in the group of this barrier");
    if (!barrier->lock.enter())
        return refuse(EPERM, "", ": this thread may not use the barrier, or another one is inside it");
    const int error = action(*barrier);
    barrier->lock.leave();
    return error;
}

int post_inside(tollbar_shmem_barrier& barrier, const shmem_ctx_t* contexts, std::size_t count) noexcept {
    if (barrier.fault != 0) return fail(barrier.fault, barrier.what);
    if (barrier.open) return refuse(EBUSY, "", " posts again while its episode is open: test or wait until it is over");
    if (!barrier.sync_only) {
        shmem_quiet();
        for (std::size_t i = 0; i < count; ++i) shmem_ctx_quiet(contexts[i]);
    }
    // Stores to this PE's own memory come before what tells the others; pairs with the acquire of
    // ShmemTransport::signalled().
    std::atomic_thread_fence(std::memory_order_release);
    barrier.open = true;
    barrier.runner->start();
    barrier.runner->advance();
    return 0;
}

/// The episode is over, or will never be: says so.
int close(tollbar_shmem_barrier& barrier) noexcept {
    if (barrier.fault != 0) return fail(barrier.fault, barrier.what);
    barrier.open = false;
    return 0;
}

/// The result of a call that does not wait; `call` is for the refusal.
int look(tollbar_shmem_barrier& barrier, const char* call) noexcept {
    if (!barrier.open) return barrier.runner->episode() == 0 ? refuse(EINVAL, call, "") : TOLLBAR_SHMEM_IDLE;
    return barrier.fault != 0 || barrier.runner->advance() ? close(barrier) : EAGAIN;
}

int test_inside(tollbar_shmem_barrier& barrier) noexcept {
    if (const int error = look(barrier, "test before the first post of "); error != EAGAIN) return error;
    constexpr std::uint32_t tests_a_progress = 32;
    BarrierTransport& transport = barrier.runner->transport();
    if (!transport.near() || ++barrier.tests % tests_a_progress == 0) transport.progress();
    return barrier.fault != 0 ? close(barrier) : EAGAIN;
}

int wait_inside(tollbar_shmem_barrier& barrier) noexcept {
    const int error = look(barrier, "wait before the first post of ");
    if (error != EAGAIN) return error == TOLLBAR_SHMEM_IDLE ? 0 : error;
    wait_reporting(
        own_timeout(), [&](auto deadline) { return barrier.runner->finish(deadline); },
        [&](auto waited) {
            examine(barrier);
            if (barrier.fault == 0) report(barrier, waited);
            return barrier.fault == 0;
        });
    return close(barrier);
}

}  // namespace

void BarrierTransport::progress() noexcept {
    constexpr std::uint32_t turns_an_examination = 64;
    ShmemTransport::progress();
    advance_others();
    if (++turns_ % turns_an_examination == 0) examine(*barrier_);
}

int tollbar_shmem_barrier_post(tollbar_shmem_barrier* barrier) {
    return tollbar_shmem_barrier_post_contexts(barrier, nullptr, 0);
}

int tollbar_shmem_barrier_post_contexts(tollbar_shmem_barrier* barrier, const shmem_ctx_t* contexts, size_t count) {
    return inside(barrier, [&](tollbar_shmem_barrier& own) {
        if (contexts == nullptr && count != 0) return fail(EINVAL, "contexts is NULL");
        return post_inside(own, contexts, count);
    });
}

int tollbar_shmem_barrier_test(tollbar_shmem_barrier* barrier) { return inside(barrier, test_inside); }

int tollbar_shmem_barrier_wait(tollbar_shmem_barrier* barrier) { return inside(barrier, wait_inside); }

int tollbar_shmem_barrier_wait_for(tollbar_shmem_barrier* barrier, int64_t nanoseconds) {
    return inside(barrier, [&](tollbar_shmem_barrier& own) {
        if (!own.open) return wait_inside(own);
        own.waited.begin(own.runner->episode());
        if (own.fault == 0 && own.runner->finish(deadline_after(std::chrono::nanoseconds(nanoseconds))))
            return close(own);
        examine(own);
        if (own.fault != 0) return close(own);
        return guarded([&] { throw Refusal{ETIMEDOUT, in_words(missing_of(own))}; });
    });
}

int tollbar_shmem_barrier_post_and_wait(tollbar_shmem_barrier* barrier) {
    return inside(barrier, [](tollbar_shmem_barrier& own) {
        const int error = post_inside(own, nullptr, 0);
        return error != 0 ? error : wait_inside(own);
    });
}

int tollbar_shmem_barrier_missing(tollbar_shmem_barrier* barrier, tollbar_missing* missing, size_t capacity,
                                  size_t* count) {
    return inside(barrier, [&](tollbar_shmem_barrier& own) {
        return c_door::write_missing(missing, capacity, count, [&] { return missing_of(own); });
    });
}
