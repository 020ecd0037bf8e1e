// SPDX-License-Identifier: Apache-2.0
// Post, test and wait: who may call, what is open, and what the caller is told.
#include "barrier.hpp"
#include "missing.hpp"
#include "waiting.hpp"

#include "doors/c/error.hpp"

#include <tollbar/environment.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>

using namespace tollbar;
using namespace tollbar::shmem;
using c_door::fail;
using c_door::guarded;
using c_door::Refusal;

namespace {

using Clock = std::chrono::steady_clock;

std::string here() { return "PE " + std::to_string(shmem_my_pe()); }

[[gnu::cold]] int refuse(int error, const char* before, const char* after) noexcept {
    return guarded([&] { throw Refusal{error, before + here() + after}; });
}

/// Lets the caller inside and keeps it so; `error` says why not.
class Visit {
public:
    explicit Visit(tollbar_shmem_barrier* barrier) noexcept : barrier_(barrier) {
        if (barrier == nullptr)
            error_ = fail(EINVAL, "barrier is NULL");
        else if (!barrier->course)
            error_ = refuse(ESRCH, "", " is not in the group of this barrier");
        else if (!barrier->usage.enter())
            error_ = refuse(EPERM, "", ": this thread may not use the barrier, or another one is inside it");
        else
            inside_ = true;
    }
    ~Visit() {
        if (inside_) barrier_->usage.leave();
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

    int error() const noexcept { return error_; }

private:
    tollbar_shmem_barrier* barrier_;
    int error_ = 0;
    bool inside_ = false;
};

int post_inside(tollbar_shmem_barrier& barrier, const shmem_ctx_t* contexts, std::size_t count) noexcept {
    if (barrier.fault != 0) return fail(barrier.fault, barrier.what);
    if (barrier.open) return refuse(EBUSY, "", " posts again while its episode is open: test or wait until it is over");
    if (!barrier.sync_only) {
        shmem_quiet();
        for (std::size_t i = 0; i < count; ++i) shmem_ctx_quiet(contexts[i]);
    }
    // Stores to this PE's own memory come before what tells the others; pairs with the acquire of Course::heard().
    std::atomic_thread_fence(std::memory_order_release);
    barrier.open = true;
    barrier.course->start();
    return 0;
}

/// The episode is over, or will never be: says so.
int close(tollbar_shmem_barrier& barrier) noexcept {
    if (barrier.fault != 0) return fail(barrier.fault, barrier.what);
    barrier.open = false;
    return 0;
}

bool never_posted(const tollbar_shmem_barrier& barrier) noexcept {
    return !barrier.open && barrier.course->episode() == 0;
}

int test_inside(tollbar_shmem_barrier& barrier) noexcept {
    if (!barrier.open) {
        if (never_posted(barrier)) return refuse(EINVAL, "test before the first post of ", "");
        return TOLLBAR_SHMEM_IDLE;
    }
    return look(barrier) ? close(barrier) : EAGAIN;
}

int wait_inside(tollbar_shmem_barrier& barrier) noexcept {
    if (!barrier.open) return never_posted(barrier) ? refuse(EINVAL, "wait before the first post of ", "") : 0;
    if (barrier.course->advance()) return close(barrier);
    static const auto timeout = timeout_from_environment();
    if (timeout) {
        const auto since = Clock::now();
        while (!finish(barrier, deadline_after(*timeout))) {
            examine(barrier);
            if (barrier.fault == 0) report(barrier, Clock::now() - since);
        }
    } else {
        finish(barrier, Never{});
    }
    return close(barrier);
}

void write(const std::vector<int>& pes, int* missing, std::size_t capacity, std::size_t* count) noexcept {
    std::copy_n(pes.begin(), std::min(pes.size(), capacity), missing);
    if (count != nullptr) *count = pes.size();
}

}  // namespace

int tollbar_shmem_barrier_post(tollbar_shmem_barrier* barrier) {
    return tollbar_shmem_barrier_post_contexts(barrier, nullptr, 0);
}

int tollbar_shmem_barrier_post_contexts(tollbar_shmem_barrier* barrier, const shmem_ctx_t* contexts, size_t count) {
    const Visit visit(barrier);
    if (visit.error() != 0) return visit.error();
    if (contexts == nullptr && count != 0) return fail(EINVAL, "contexts is NULL");
    return post_inside(*barrier, contexts, count);
}

int tollbar_shmem_barrier_test(tollbar_shmem_barrier* barrier) {
    const Visit visit(barrier);
    return visit.error() != 0 ? visit.error() : test_inside(*barrier);
}

int tollbar_shmem_barrier_wait(tollbar_shmem_barrier* barrier) {
    const Visit visit(barrier);
    return visit.error() != 0 ? visit.error() : wait_inside(*barrier);
}

int tollbar_shmem_barrier_wait_until(tollbar_shmem_barrier* barrier, int64_t deadline_ns, int* missing_pes,
                                     size_t capacity, size_t* count) {
    const Visit visit(barrier);
    if (visit.error() != 0) return visit.error();
    if (missing_pes == nullptr && capacity != 0) return fail(EINVAL, "missing is NULL");
    if (!barrier->open) return wait_inside(*barrier);
    const Clock::time_point at{std::chrono::nanoseconds(deadline_ns)};
    if (finish(*barrier, Deadline{at})) return close(*barrier);
    examine(*barrier);
    if (barrier->fault != 0) return close(*barrier);
    return guarded([&] {
        const std::vector<int> pes = missing(*barrier);
        write(pes, missing_pes, capacity, count);
        throw Refusal{ETIMEDOUT, missing_in_words(*barrier, pes)};
    });
}

int64_t tollbar_shmem_now(void) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

int tollbar_shmem_barrier_post_and_wait(tollbar_shmem_barrier* barrier) {
    const Visit visit(barrier);
    if (visit.error() != 0) return visit.error();
    if (const int error = post_inside(*barrier, nullptr, 0); error != 0) return error;
    return wait_inside(*barrier);
}

int tollbar_shmem_barrier_missing(tollbar_shmem_barrier* barrier, int* missing_pes, size_t capacity, size_t* count) {
    const Visit visit(barrier);
    if (visit.error() != 0) return visit.error();
    if (missing_pes == nullptr && capacity != 0) return fail(EINVAL, "missing is NULL");
    return guarded([&] { write(missing(*barrier), missing_pes, capacity, count); });
}

int tollbar_shmem_barrier_nb(tollbar_shmem_barrier* barrier, tollbar_shmem_req* request) {
    if (request == nullptr) return fail(EINVAL, "request is NULL");
    *request = TOLLBAR_SHMEM_REQ_INVALID;
    const int error = tollbar_shmem_barrier_post(barrier);
    if (error == 0) *request = barrier;
    return error;
}

int tollbar_shmem_req_test(tollbar_shmem_req* request) {
    if (request == nullptr) return fail(EINVAL, "request is NULL");
    if (*request == TOLLBAR_SHMEM_REQ_INVALID) return 0;
    const int error = tollbar_shmem_barrier_test(*request);
    if (error != 0 && error != TOLLBAR_SHMEM_IDLE) return error;
    *request = TOLLBAR_SHMEM_REQ_INVALID;
    return 0;
}

int tollbar_shmem_req_wait(tollbar_shmem_req* request) {
    if (request == nullptr) return fail(EINVAL, "request is NULL");
    if (*request == TOLLBAR_SHMEM_REQ_INVALID) return 0;
    const int error = tollbar_shmem_barrier_wait(*request);
    if (error == 0) *request = TOLLBAR_SHMEM_REQ_INVALID;
    return error;
}
