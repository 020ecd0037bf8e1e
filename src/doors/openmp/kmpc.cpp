// SPDX-License-Identifier: Apache-2.0
// The functions that clang's and Intel's code calls, of libomp: as gomp.cpp. libomp itself comes by here, too, where it
// calls its own functions by their names; those calls are told apart by where they come from.
#include "missing.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstddef>
#include <tuple>
#include <vector>

using namespace tollbar::detail::openmp;

namespace {

using Microtask = void(int* thread, int* bound, ...);

/// Arguments that are passed whether the body takes them or not, which the calling conventions allow.
constexpr std::size_t most_plain = 16;

struct Call {
    Opening opening;
    Microtask* body;
    int count;
    void** arguments;
};

/// Every thread of a team runs this in place of the region's body.
void run_body(int* thread, int* bound, Call* given) {
    const Call call = *given;
    const Visit visit(own_member(), call.opening.home);
    become_member(visit.inner(), call.opening);
    if (call.count <= 3) {
        void* plain[3]{};
        std::copy_n(call.arguments, call.count, plain);
        call.body(thread, bound, plain[0], plain[1], plain[2]);
    } else if (call.count <= static_cast<int>(most_plain)) {
        std::array<void*, most_plain> plain{};
        std::copy_n(call.arguments, call.count, plain.begin());
        std::apply([&](auto... one) { call.body(thread, bound, one...); }, plain);
    } else {
        void* frame = nullptr;  // where a tool would find the stack; older runtimes do not take it
        using Invoke = int(Microtask*, int, int, int, void**, void**);
        call.opening.home.runtime->real<"__kmp_invoke_microtask", Invoke>()(call.body, *thread, *bound, call.count,
                                                                            call.arguments, &frame);
    }
    note_end(visit.inner());
}

/// The place of a construct: the compiler's constant that describes it, else the code that has called.
const void* place_of(const void* location, const void* caller) noexcept {
    return location == nullptr ? caller : location;
}

[[gnu::always_inline]] inline void meet_or_call(void* location, int thread, const void* caller) noexcept {
    const void* const place = place_of(location, caller);
    Member* const self = serving(place, Family::kmpc);
    if (self == nullptr || !meet(*self, caller))
        wait_in_runtime<Family::kmpc, "__kmpc_barrier", void(void*, int)>(place, caller, location, thread);
}

}  // namespace

extern "C" {

void __kmpc_fork_call(void* location, int count, Microtask* body, ...) {
    const auto* const code = reinterpret_cast<const void*>(body);
    const Site home = site_of(code, Family::kmpc);
    auto* const real = home.runtime->real<"__kmpc_fork_call", void(void*, int, Microtask*, ...)>();
    std::array<void*, most_plain> a{};
    std::vector<void*> many(count <= static_cast<int>(most_plain) ? 0 : static_cast<std::size_t>(count));
    void** const arguments = many.empty() ? a.data() : many.data();
    va_list given;
    va_start(given, body);
    for (int i = 0; i < count; ++i) arguments[i] = va_arg(given, void*);
    va_end(given);

    Member& master = own_member();
    Call call{opening_of(master, code, home), body, count, arguments};
    if (call.opening.team != nullptr) {
        real(location, 1, reinterpret_cast<Microtask*>(reinterpret_cast<void*>(&run_body)), &call);
        return note_over(call.opening);
    }
    const Visit outside(master, home);
    if (many.empty()) return std::apply([&](auto... one) { real(location, count, body, one...); }, a);
    real(location, 1, reinterpret_cast<Microtask*>(reinterpret_cast<void*>(&run_body)), &call);
}

void __kmpc_fork_call_if(void* location, int count, Microtask* body, int condition, void* arguments) {
    const Site home = site_of(reinterpret_cast<const void*>(body), Family::kmpc);
    const Visit outside(own_member(), home);
    home.runtime->real<"__kmpc_fork_call_if", decltype(__kmpc_fork_call_if)>()(location, count, body, condition,
                                                                               arguments);
}

/// A league: the masters of its teams open regions of their own.
void __kmpc_fork_teams(void* location, int count, Microtask* body, ...) {
    const Site home = site_of(reinterpret_cast<const void*>(body), Family::kmpc);
    auto* const real = home.runtime->real<"__kmpc_fork_teams", void(void*, int, Microtask*, ...)>();
    std::array<void*, 64> a{};
    va_list given;
    va_start(given, body);
    for (int i = 0; i < count && i < static_cast<int>(a.size()); ++i) a[i] = va_arg(given, void*);
    va_end(given);
    const Visit outside(own_member(), home);
    std::apply([&](auto... one) { real(location, count, body, one...); }, a);
}

void __kmpc_serialized_parallel(void* location, int thread) {
    const void* const caller = __builtin_return_address(0);
    const Runtime& runtime = runtime_of(place_of(location, caller), Family::kmpc);
    runtime.real<"__kmpc_serialized_parallel", void(void*, int)>()(location, thread);
    if (!runtime.contains(caller)) enter(own_member()).is_serialized = true;
}

void __kmpc_end_serialized_parallel(void* location, int thread) {
    const void* const caller = __builtin_return_address(0);
    const Runtime& runtime = runtime_of(place_of(location, caller), Family::kmpc);
    runtime.real<"__kmpc_end_serialized_parallel", void(void*, int)>()(location, thread);
    Member* const self = innermost;
    if (!runtime.contains(caller) && self != nullptr && self->is_serialized) leave(*self);
}

void __kmpc_barrier(void* location, int thread) {
    const void* const caller = __builtin_return_address(0);
    meet_or_call(location, thread, caller);
}

int __kmpc_cancel_barrier(void* location, int thread) {
    const void* const caller = __builtin_return_address(0);
    const void* const place = place_of(location, caller);
    Member* const self = serving(place, Family::kmpc);
    if (self != nullptr && meet(*self, caller)) return 0;
    return wait_in_runtime<Family::kmpc, "__kmpc_cancel_barrier", int(void*, int)>(place, caller, location, thread);
}

/// The thread that has run the block shows where its copies are; the others copy, and meet before it goes on.
void __kmpc_copyprivate(void* location, int thread, std::size_t size, void* data, void (*copy)(void*, void*), int ran) {
    const void* const caller = __builtin_return_address(0);
    const void* const place = place_of(location, caller);
    Member* const self = serving(place, Family::kmpc);
    if (self == nullptr)
        return wait_in_runtime<Family::kmpc, "__kmpc_copyprivate", decltype(__kmpc_copyprivate)>(
            place, caller, location, thread, size, data, copy, ran);
    NativeTeam& team = *self->team.load(std::memory_order_relaxed);
    if (ran != 0) team.copied.store(data, std::memory_order_relaxed);
    meet_or_call(location, thread, caller);
    if (ran == 0) copy(data, team.copied.load(std::memory_order_relaxed));
    meet_or_call(location, thread, caller);
}

int __kmpc_omp_task(void* location, int thread, void* task) {
    return making<Family::kmpc, "__kmpc_omp_task", int(void*, int, void*)>(
        place_of(location, __builtin_return_address(0)))(location, thread, task);
}

int __kmpc_omp_task_parts(void* location, int thread, void* task) {
    return making<Family::kmpc, "__kmpc_omp_task_parts", int(void*, int, void*)>(
        place_of(location, __builtin_return_address(0)))(location, thread, task);
}

int __kmpc_omp_task_with_deps(void* location, int thread, void* task, int count, void* depend, int others, void* more) {
    return making<Family::kmpc, "__kmpc_omp_task_with_deps", decltype(__kmpc_omp_task_with_deps)>(
        place_of(location, __builtin_return_address(0)))(location, thread, task, count, depend, others, more);
}

void __kmpc_taskloop(void* location, int thread, void* task, int condition, void* first, void* end, long step,
                     int no_group, int schedule, unsigned long size, void* copy) {
    making<Family::kmpc, "__kmpc_taskloop", decltype(__kmpc_taskloop)>(place_of(location, __builtin_return_address(0)))(
        location, thread, task, condition, first, end, step, no_group, schedule, size, copy);
}

void __kmpc_taskloop_5(void* location, int thread, void* task, int condition, void* first, void* end, long step,
                       int no_group, int schedule, unsigned long size, int modifier, void* copy) {
    making<Family::kmpc, "__kmpc_taskloop_5", decltype(__kmpc_taskloop_5)>(
        place_of(location, __builtin_return_address(0)))(location, thread, task, condition, first, end, step, no_group,
                                                         schedule, size, modifier, copy);
}

}  // extern "C"
