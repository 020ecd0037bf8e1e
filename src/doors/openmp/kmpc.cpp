// SPDX-License-Identifier: Apache-2.0
// The functions that clang's and Intel's code calls, of libomp: as gomp.cpp. libomp itself comes by here, too, where it
// calls its own functions by their names; those calls are told apart by where they come from.
#include "missing.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

using namespace tollbar::detail::openmp;

namespace {

using Microtask = void(int* thread, int* bound, ...);

/// Arguments of a region that are handed on one by one.
constexpr std::size_t most_plain = 14;

template <std::size_t>
using Argument = void*;

/// Every thread of a team runs one of these in place of the region's body, which the team knows by a number. The team
/// comes as the first argument, which the runtime copies to where its threads look anyway. So none reads what its
/// master has just written.
template <std::size_t number, std::size_t... position>
struct Region {
    static void run(int* thread, int* bound, NativeTeam* lent, Argument<position>... arguments) {
        const void* const body = lent->bodies[number];
        const EnteredRegion visit(*lent, body);
        reinterpret_cast<Microtask*>(const_cast<void*>(body))(thread, bound, arguments...);
        note_end(visit.inner());
    }
};

void invoke(const Runtime& runtime, Microtask* body, int thread, int bound, long count, void** arguments) {
    void* frame = nullptr;  // where a tool would find the stack; older runtimes do not take it
    using Invoke = int(Microtask*, int, int, int, void**, void**);
    runtime.real<"__kmp_invoke_microtask", Invoke>()(body, thread, bound, static_cast<int>(count), arguments, &frame);
}

void run_many(int* thread, int* bound, Microtask* body, NativeTeam* lent, long count, void** arguments) {
    const EnteredRegion visit(*lent, reinterpret_cast<const void*>(body));
    invoke(*lent->home.runtime, body, *thread, *bound, count, arguments);
    note_end(visit.inner());
}

void run_many_of_league(int* thread, int* bound, Microtask* body, const Runtime* runtime, long count,
                        void** arguments) {
    invoke(*runtime, body, *thread, *bound, count, arguments);
}

template <class Run>
Microtask* as_microtask(Run* run) noexcept {
    return reinterpret_cast<Microtask*>(reinterpret_cast<void*>(run));
}

/// The arguments of a microtask, as a function with dots is given them.
class Arguments {
public:
    Arguments(int count, va_list given) : many_(count <= static_cast<int>(few_.size()) ? 0 : count) {
        for (int i = 0; i < count; ++i) all()[i] = va_arg(given, void*);
    }

    bool are_few() const noexcept { return many_.empty(); }
    auto& few() noexcept { return few_; }
    void** all() noexcept { return are_few() ? few_.data() : many_.data(); }

private:
    std::array<void*, most_plain> few_{};
    std::vector<void*> many_;
};

template <std::size_t number, std::size_t... position>
Microtask* region_of(std::index_sequence<position...>) noexcept {
    return as_microtask(&Region<number, position...>::run);
}

/// That for a body of that number with so many arguments.
template <std::size_t... both>
Microtask* region_of(std::size_t number, std::size_t count, std::index_sequence<both...>) noexcept {
    constexpr std::size_t counts = most_plain + 1;
    static constexpr std::array finders{
        +[]() noexcept { return region_of<both / counts>(std::make_index_sequence<both % counts>()); }...};
    return finders[number * counts + count]();
}

/// The place of a construct: the compiler's constant that describes it, else the code that has called.
const void* place_of(const void* location, const void* caller) noexcept {
    return location == nullptr ? caller : location;
}

/// Has the real function make a task.
template <Name name, class Result = void, class... More>
Result make(const void* caller, void* location, More... more) {
    return make_task<Family::kmpc, name, Result>(place_of(location, caller), location, more...);
}

template <Name name, class Result = void>
[[gnu::always_inline]] inline Result meet_or_call(void* location, int thread, const void* caller) {
    const void* const place = place_of(location, caller);
    ThreadRecord* const self = serving(place, Family::kmpc);
    if (self == nullptr || !meet(*self, caller))
        return wait_in_runtime<Family::kmpc, name, Result(void*, int)>(place, caller, location, thread);
    return Result();
}

/// The share of a thread in a loop with schedule(static) and no chunk, as libomp deals it out (LLVM 14, kmp_sched.cpp,
/// kmp_sch_static, balanced), a loop whose count of trips does not fit its type included.
template <class T, class Step>
void deal_out(const ThreadRecord& self, int& last, T& lower, T& upper, Step& stride, Step step) noexcept {
    using Count = std::make_unsigned_t<T>;
    if (step > 0 ? upper < lower : lower < upper) {
        last = 0;
        stride = step;
        return;
    }
    const auto first = static_cast<Count>(lower), end = static_cast<Count>(upper), by = static_cast<Count>(step);
    const Count trips = (step > 0 ? (end - first) / by : (first - end) / (0 - by)) + 1;
    const auto threads = static_cast<Count>(self.threads);
    const auto number = static_cast<Count>(self.number.load(std::memory_order_relaxed));
    const Count each = trips / threads, more = trips % threads;
    const Count begin = first + by * (number * each + std::min(number, more));
    stride = static_cast<Step>(trips);
    last = number == std::min(trips, threads) - 1 ? 1 : 0;
    lower = static_cast<T>(number < trips ? begin : end + (step > 0 ? 1 : -1));
    if (number < trips) upper = static_cast<T>(begin + each * by - (number < more ? Count{0} : by));
}

template <Name name, class T, class Step>
[[gnu::always_inline]] inline void deal(void* location, int thread, int schedule, int* last, T* lower, T* upper,
                                        Step* stride, Step step, Step chunk) noexcept {
    constexpr int without_chunk = 34;
    const void* const place = place_of(location, __builtin_return_address(0));
    const ThreadRecord* const self = schedule == without_chunk && step != 0 ? serving(place, Family::kmpc) : nullptr;
    if (self != nullptr && self->home->runtime->deals_evenly())
        return deal_out(*self, *last, *lower, *upper, *stride, step);
    using Function = void(void*, int, int, int*, T*, T*, Step*, Step, Step);
    real_of<Family::kmpc, name, Function>(place)(location, thread, schedule, last, lower, upper, stride, step, chunk);
}

}  // namespace

extern "C" {

void __kmpc_fork_call(void* location, int count, Microtask* body, ...) {
    const auto* const code = reinterpret_cast<const void*>(body);
    const Site home = site_of(code, Family::kmpc);
    auto* const real = home.runtime->real<"__kmpc_fork_call", void(void*, int, Microtask*, ...)>();
    va_list given;
    va_start(given, body);
    Arguments arguments(count, given);
    va_end(given);

    NativeTeam* const team = &lend(home, std::exchange(own_member().asked, 0));
    if (arguments.are_few()) {
        Microtask* const region = region_of(team->number_of(code), static_cast<std::size_t>(count),
                                            std::make_index_sequence<NativeTeam::most_bodies*(most_plain + 1)>());
        std::apply([&](auto... one) { real(location, count + 1, region, team, one...); }, arguments.few());
    } else {
        real(location, 4, as_microtask(&run_many), body, team, long{count}, arguments.all());
    }
    end_loan();
}

/// How many threads the next region of the caller is to have.
void __kmpc_push_num_threads(void* location, int thread, int threads) {
    own_member().asked = threads;
    runtime_of(place_of(location, __builtin_return_address(0)), Family::kmpc)
        .real<"__kmpc_push_num_threads", decltype(__kmpc_push_num_threads)>()(location, thread, threads);
}

void __kmpc_fork_call_if(void* location, int count, Microtask* body, int condition, void* arguments) {
    const Site home = site_of(reinterpret_cast<const void*>(body), Family::kmpc);
    const EnteredRegion outside(own_member(), home);
    home.runtime->real<"__kmpc_fork_call_if", decltype(__kmpc_fork_call_if)>()(location, count, body, condition,
                                                                               arguments);
}

/// A league: the masters of its teams open regions of their own.
void __kmpc_fork_teams(void* location, int count, Microtask* body, ...) {
    const Site home = site_of(reinterpret_cast<const void*>(body), Family::kmpc);
    auto* const real = home.runtime->real<"__kmpc_fork_teams", void(void*, int, Microtask*, ...)>();
    va_list given;
    va_start(given, body);
    Arguments arguments(count, given);
    va_end(given);
    const EnteredRegion outside(own_member(), home);
    if (arguments.are_few())
        std::apply([&](auto... one) { real(location, count, body, one...); }, arguments.few());
    else
        real(location, 4, as_microtask(&run_many_of_league), body, home.runtime, long{count}, arguments.all());
}

void __kmpc_serialized_parallel(void* location, int thread) {
    const void* const caller = __builtin_return_address(0);
    const Runtime& runtime = runtime_of(place_of(location, caller), Family::kmpc);
    runtime.real<"__kmpc_serialized_parallel", void(void*, int)>()(location, thread);
    if (!runtime.contains(caller)) enter(own_member(), nowhere, Entered::alone);
}

void __kmpc_end_serialized_parallel(void* location, int thread) {
    const void* const caller = __builtin_return_address(0);
    const Runtime& runtime = runtime_of(place_of(location, caller), Family::kmpc);
    runtime.real<"__kmpc_end_serialized_parallel", void(void*, int)>()(location, thread);
    ThreadRecord* const self = innermost;
    if (!runtime.contains(caller) && self != nullptr && self->as == Entered::alone) leave(*self);
}

void __kmpc_barrier(void* location, int thread) {
    meet_or_call<"__kmpc_barrier">(location, thread, __builtin_return_address(0));
}

int __kmpc_cancel_barrier(void* location, int thread) {
    return meet_or_call<"__kmpc_cancel_barrier", int>(location, thread, __builtin_return_address(0));
}

/// The thread that has run the block shows where its copies are; the others copy, and meet before it goes on.
void __kmpc_copyprivate(void* location, int thread, std::size_t size, void* data, void (*copy)(void*, void*), int ran) {
    const void* const caller = __builtin_return_address(0);
    const void* const place = place_of(location, caller);
    ThreadRecord* const self = serving(place, Family::kmpc);
    if (self == nullptr)
        return wait_in_runtime<Family::kmpc, "__kmpc_copyprivate", decltype(__kmpc_copyprivate)>(
            place, caller, location, thread, size, data, copy, ran);
    NativeTeam& team = *self->team.load(std::memory_order_relaxed);
    if (ran != 0) team.copied.store(data, std::memory_order_relaxed);
    meet_or_call<"__kmpc_barrier">(location, thread, caller);
    if (ran == 0) copy(data, team.copied.load(std::memory_order_relaxed));
    meet_or_call<"__kmpc_barrier">(location, thread, caller);
}

void __kmpc_for_static_init_4(void* location, int thread, int schedule, int* last, int* lower, int* upper, int* stride,
                              int step, int chunk) {
    deal<"__kmpc_for_static_init_4">(location, thread, schedule, last, lower, upper, stride, step, chunk);
}

void __kmpc_for_static_init_4u(void* location, int thread, int schedule, int* last, unsigned* lower, unsigned* upper,
                               int* stride, int step, int chunk) {
    deal<"__kmpc_for_static_init_4u">(location, thread, schedule, last, lower, upper, stride, step, chunk);
}

void __kmpc_for_static_init_8(void* location, int thread, int schedule, int* last, long* lower, long* upper,
                              long* stride, long step, long chunk) {
    deal<"__kmpc_for_static_init_8">(location, thread, schedule, last, lower, upper, stride, step, chunk);
}

void __kmpc_for_static_init_8u(void* location, int thread, int schedule, int* last, unsigned long* lower,
                               unsigned long* upper, long* stride, long step, long chunk) {
    deal<"__kmpc_for_static_init_8u">(location, thread, schedule, last, lower, upper, stride, step, chunk);
}

int __kmpc_omp_task(void* location, int thread, void* task) {
    return make<"__kmpc_omp_task", int>(__builtin_return_address(0), location, thread, task);
}

int __kmpc_omp_task_parts(void* location, int thread, void* task) {
    return make<"__kmpc_omp_task_parts", int>(__builtin_return_address(0), location, thread, task);
}

int __kmpc_omp_task_with_deps(void* location, int thread, void* task, int count, void* depend, int others, void* more) {
    return make<"__kmpc_omp_task_with_deps", int>(__builtin_return_address(0), location, thread, task, count, depend,
                                                  others, more);
}

void __kmpc_taskloop(void* location, int thread, void* task, int condition, void* first, void* end, long step,
                     int no_group, int schedule, unsigned long size, void* copy) {
    make<"__kmpc_taskloop">(__builtin_return_address(0), location, thread, task, condition, first, end, step, no_group,
                            schedule, size, copy);
}

void __kmpc_taskloop_5(void* location, int thread, void* task, int condition, void* first, void* end, long step,
                       int no_group, int schedule, unsigned long size, int modifier, void* copy) {
    make<"__kmpc_taskloop_5">(__builtin_return_address(0), location, thread, task, condition, first, end, step,
                              no_group, schedule, size, modifier, copy);
}

}  // extern "C"
