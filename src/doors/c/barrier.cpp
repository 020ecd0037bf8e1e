// SPDX-License-Identifier: Apache-2.0
// tollbar_barrier_*: one call of tollbar::barrier each.
#include <tollbar/barrier.hpp>
#include <tollbar/tollbar.h>

#include "base/error.hpp"
#include "plan/wording.hpp"

#include <bit>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <variant>

using namespace tollbar::detail::c_door;
using tollbar::detail::worded;

namespace {

struct Completion {
    tollbar_completion run;
    void* context;

    void operator()() const { run(context); }
};

using Plain = tollbar::barrier<>;
using Completing = tollbar::barrier<Completion>;

static_assert(TOLLBAR_BARRIER_MAX == Plain::max());

/// Tokens of both kinds of barrier are one number, which is what C programs keep.
template <class Barrier>
typename Barrier::arrival_token to_cxx(tollbar_token token) {
    return std::bit_cast<typename Barrier::arrival_token>(token);
}

}  // namespace

struct tollbar_barrier {
    tollbar_barrier(std::ptrdiff_t expected, tollbar_completion run, void* context) : count(expected) {
        if (run == nullptr) {
            barrier.emplace<Plain>(count);
        } else {
            barrier.emplace<Completing>(count, Completion{run, context});
        }
    }

    std::ptrdiff_t count;
    std::variant<std::monostate, Plain, Completing> barrier;
};

namespace {

/// The result of `action` on the C++ barrier behind `barrier`; EINVAL for NULL.
template <class Barrier, class Action>
int with(Barrier* barrier, Action action) noexcept {
    if (barrier == nullptr) return fail(EINVAL, "barrier is NULL");
    if (auto* plain = std::get_if<Plain>(&barrier->barrier)) return action(*plain);
    return action(std::get<Completing>(barrier->barrier));
}

int refuse_times(const tollbar_barrier* barrier, size_t times) noexcept {
    return guarded([&] {
        const auto count = static_cast<std::size_t>(barrier->count);
        return fail(EINVAL,
                    worded({"a barrier of ", count, " takes 1 to ", count, " arrivals at a time, not ", times}));
    });
}

}  // namespace

int tollbar_barrier_create(size_t count, tollbar_completion completion, void* context, tollbar_barrier** barrier) {
    return guarded([&] {
        if (barrier == nullptr) return fail(EINVAL, "barrier is NULL");
        if (count < 1 || count > TOLLBAR_BARRIER_MAX)
            return fail(EINVAL, worded({"a barrier expects 1 to ", std::size_t{TOLLBAR_BARRIER_MAX}, " arrivals, not ",
                                        count}));
        *barrier = new tollbar_barrier(static_cast<std::ptrdiff_t>(count), completion, context);
        return 0;
    });
}

int tollbar_barrier_destroy(tollbar_barrier* barrier) {
    delete barrier;
    return 0;
}

int tollbar_barrier_arrive(tollbar_barrier* barrier, size_t times, tollbar_token* token) {
    return with(barrier, [&](auto& inner) {
        if (times < 1 || times > static_cast<std::size_t>(barrier->count)) return refuse_times(barrier, times);
        const auto arrived = std::bit_cast<tollbar_token>(inner.arrive(static_cast<std::ptrdiff_t>(times)));
        if (token != nullptr) *token = arrived;
        return 0;
    });
}

int tollbar_barrier_arrive_and_wait(tollbar_barrier* barrier) {
    return with(barrier, [](auto& inner) {
        inner.arrive_and_wait();
        return 0;
    });
}

int tollbar_barrier_arrive_and_drop(tollbar_barrier* barrier) {
    return with(barrier, [](auto& inner) {
        inner.arrive_and_drop();
        return 0;
    });
}

int tollbar_barrier_wait(const tollbar_barrier* barrier, tollbar_token token) {
    return with(barrier, [&](const auto& inner) {
        inner.wait(to_cxx<std::remove_cvref_t<decltype(inner)>>(token));
        return 0;
    });
}

int tollbar_barrier_test(const tollbar_barrier* barrier, tollbar_token token) {
    return with(barrier, [&](const auto& inner) {
        return inner.try_wait(to_cxx<std::remove_cvref_t<decltype(inner)>>(token)) ? 0 : EAGAIN;
    });
}

int tollbar_barrier_wait_for(const tollbar_barrier* barrier, tollbar_token token, int64_t nanoseconds) {
    return with(barrier, [&](const auto& inner) {
        const auto phase = to_cxx<std::remove_cvref_t<decltype(inner)>>(token);
        return inner.wait_for(phase, std::chrono::nanoseconds(nanoseconds))
                   ? 0
                   : fail(ETIMEDOUT, "time ran out before the phase was over");
    });
}
