// SPDX-License-Identifier: Apache-2.0
// The functions that GCC's code calls, of libgomp or of libomp: regions are opened with a trampoline in between, waits
// inside them go to the region's team, and tasks are noted.
#include "missing.hpp"

#include <cstddef>
#include <memory>

using namespace tollbar::detail::openmp;

namespace {

using Body = void(void*);

struct Call {
    Opening opening;
    Body* body;
    void* data;
};

/// Every thread of a team runs this in place of the region's body.
void run_body(void* given) {
    const Call call = *static_cast<Call*>(given);
    const Visit visit(own_member(), call.opening.home);
    become_member(visit.inner(), call.opening);
    call.body(call.data);
    note_end(visit.inner());
}

const void* address_of(Body* body) noexcept { return reinterpret_cast<const void*>(body); }

/// Opens a region by the runtime's function of that name.
template <Name name, class... Rest>
void open(Body* body, void* data, Rest... rest) {
    const Site home = site_of(address_of(body), Family::gomp);
    auto* const real = home.runtime->real<name, void(Body*, void*, Rest...)>();
    Member& master = own_member();
    if (!home.runtime->is_served()) {
        const Visit outside(master, home);
        return real(body, data, rest...);
    }
    Call call{opening_of(master, address_of(body), home), body, data};
    real(run_body, &call, rest...);
    note_over(call.opening);
}

/// Begins a region whose body the master runs by itself before it calls GOMP_parallel_end, as GCC before 4.9 has it.
template <Name name, class... Rest>
void begin(Body* body, void* data, Rest... rest) {
    const Site home = site_of(address_of(body), Family::gomp);
    auto* const real = home.runtime->real<name, void(Body*, void*, Rest...)>();
    Member& master = own_member();
    auto* const call = new Call{opening_of(master, address_of(body), home), body, data};
    real(run_body, call, rest...);
    Member& self = enter(master);
    self.home = home;
    become_member(self, call->opening);
    self.begun = call;
}

/// The end of a construct: the runtime's end that does not wait, then the team's barrier.
template <Name end, Name nowait>
void meet_at_end(const void* place) noexcept {
    Member* const self = serving(place, Family::gomp);
    if (self == nullptr) return wait_in_runtime<Family::gomp, end, void()>(place, place);
    self->home.runtime->real<nowait, void()>()();
    if (!meet(*self, place)) wait_in_runtime<Family::gomp, "GOMP_barrier", void()>(place, place);
}

/// The same in a region that could be cancelled, which no region is that is served. Whether it was cancelled.
template <Name end, Name nowait>
bool meet_unless_cancelled(const void* place) noexcept {
    Member* const self = serving(place, Family::gomp);
    if (self == nullptr) return wait_in_runtime<Family::gomp, end, bool()>(place, place);
    self->home.runtime->real<nowait, void()>()();
    return meet(*self, place) ? false : wait_in_runtime<Family::gomp, "GOMP_barrier_cancel", bool()>(place, place);
}

}  // namespace

extern "C" {

void GOMP_parallel(Body* body, void* data, unsigned threads, unsigned flags) {
    open<"GOMP_parallel">(body, data, threads, flags);
}

// Loops have `a` to `d` for the first iteration, the end, the step and the size of a chunk.

void GOMP_parallel_loop_static(Body* body, void* data, unsigned threads, long a, long b, long c, long d, unsigned f) {
    open<"GOMP_parallel_loop_static">(body, data, threads, a, b, c, d, f);
}

void GOMP_parallel_loop_dynamic(Body* body, void* data, unsigned threads, long a, long b, long c, long d, unsigned f) {
    open<"GOMP_parallel_loop_dynamic">(body, data, threads, a, b, c, d, f);
}

void GOMP_parallel_loop_guided(Body* body, void* data, unsigned threads, long a, long b, long c, long d, unsigned f) {
    open<"GOMP_parallel_loop_guided">(body, data, threads, a, b, c, d, f);
}

void GOMP_parallel_loop_nonmonotonic_dynamic(Body* body, void* data, unsigned threads, long a, long b, long c, long d,
                                             unsigned f) {
    open<"GOMP_parallel_loop_nonmonotonic_dynamic">(body, data, threads, a, b, c, d, f);
}

void GOMP_parallel_loop_nonmonotonic_guided(Body* body, void* data, unsigned threads, long a, long b, long c, long d,
                                            unsigned f) {
    open<"GOMP_parallel_loop_nonmonotonic_guided">(body, data, threads, a, b, c, d, f);
}

void GOMP_parallel_loop_runtime(Body* body, void* data, unsigned threads, long a, long b, long c, unsigned f) {
    open<"GOMP_parallel_loop_runtime">(body, data, threads, a, b, c, f);
}

void GOMP_parallel_loop_nonmonotonic_runtime(Body* body, void* data, unsigned threads, long a, long b, long c,
                                             unsigned f) {
    open<"GOMP_parallel_loop_nonmonotonic_runtime">(body, data, threads, a, b, c, f);
}

void GOMP_parallel_loop_maybe_nonmonotonic_runtime(Body* body, void* data, unsigned threads, long a, long b, long c,
                                                   unsigned f) {
    open<"GOMP_parallel_loop_maybe_nonmonotonic_runtime">(body, data, threads, a, b, c, f);
}

void GOMP_parallel_sections(Body* body, void* data, unsigned threads, unsigned count, unsigned flags) {
    open<"GOMP_parallel_sections">(body, data, threads, count, flags);
}

void GOMP_parallel_start(Body* body, void* data, unsigned threads) {
    begin<"GOMP_parallel_start">(body, data, threads);
}

void GOMP_parallel_loop_static_start(Body* body, void* data, unsigned threads, long a, long b, long c, long d) {
    begin<"GOMP_parallel_loop_static_start">(body, data, threads, a, b, c, d);
}

void GOMP_parallel_loop_dynamic_start(Body* body, void* data, unsigned threads, long a, long b, long c, long d) {
    begin<"GOMP_parallel_loop_dynamic_start">(body, data, threads, a, b, c, d);
}

void GOMP_parallel_loop_guided_start(Body* body, void* data, unsigned threads, long a, long b, long c, long d) {
    begin<"GOMP_parallel_loop_guided_start">(body, data, threads, a, b, c, d);
}

void GOMP_parallel_loop_runtime_start(Body* body, void* data, unsigned threads, long a, long b, long c) {
    begin<"GOMP_parallel_loop_runtime_start">(body, data, threads, a, b, c);
}

void GOMP_parallel_sections_start(Body* body, void* data, unsigned threads, unsigned count) {
    begin<"GOMP_parallel_sections_start">(body, data, threads, count);
}

void GOMP_parallel_end() {
    Member* const self = innermost;
    if (self == nullptr || self->begun == nullptr)
        return real_of<Family::gomp, "GOMP_parallel_end", void()>(__builtin_return_address(0))();
    note_end(*self);
    self->home.runtime->real<"GOMP_parallel_end", void()>()();
    const std::unique_ptr<const Call> call(static_cast<Call*>(self->begun));
    note_over(call->opening);
    leave(*self);
}

/// The runtime reads a table of reductions at `data` and gives the body the same data, so that nothing can be put in
/// between: the region's barriers stay the runtime's.
unsigned GOMP_parallel_reductions(Body* body, void* data, unsigned threads, unsigned flags) {
    const Visit outside(own_member(), site_of(address_of(body), Family::gomp));
    return real_of<Family::gomp, "GOMP_parallel_reductions", decltype(GOMP_parallel_reductions)>(address_of(body))(
        body, data, threads, flags);
}

void GOMP_teams_reg(Body* body, void* data, unsigned teams, unsigned threads, unsigned flags) {
    const Visit outside(own_member(), site_of(address_of(body), Family::gomp));
    real_of<Family::gomp, "GOMP_teams_reg", decltype(GOMP_teams_reg)>(address_of(body))(body, data, teams, threads,
                                                                                        flags);
}

void GOMP_barrier() {
    const void* const place = __builtin_return_address(0);
    Member* const self = serving(place, Family::gomp);
    if (self == nullptr || !meet(*self, place)) wait_in_runtime<Family::gomp, "GOMP_barrier", void()>(place, place);
}

bool GOMP_barrier_cancel() {
    const void* const place = __builtin_return_address(0);
    Member* const self = serving(place, Family::gomp);
    return self != nullptr && meet(*self, place)
               ? false
               : wait_in_runtime<Family::gomp, "GOMP_barrier_cancel", bool()>(place, place);
}

void GOMP_loop_end() { meet_at_end<"GOMP_loop_end", "GOMP_loop_end_nowait">(__builtin_return_address(0)); }

bool GOMP_loop_end_cancel() {
    return meet_unless_cancelled<"GOMP_loop_end_cancel", "GOMP_loop_end_nowait">(__builtin_return_address(0));
}

void GOMP_sections_end() { meet_at_end<"GOMP_sections_end", "GOMP_sections_end_nowait">(__builtin_return_address(0)); }

bool GOMP_sections_end_cancel() {
    return meet_unless_cancelled<"GOMP_sections_end_cancel", "GOMP_sections_end_nowait">(__builtin_return_address(0));
}

/// Null for the thread that runs the block, for the others the address that it gives to GOMP_single_copy_end. The
/// compiler calls GOMP_barrier after both: the address stays until then.
void* GOMP_single_copy_start() {
    const void* const place = __builtin_return_address(0);
    Member* const self = serving(place, Family::gomp);
    if (self == nullptr) return wait_in_runtime<Family::gomp, "GOMP_single_copy_start", void*()>(place, place);
    NativeTeam& team = *self->team.load(std::memory_order_relaxed);
    if (real_of<Family::gomp, "GOMP_single_start", bool()>(place)()) return nullptr;
    if (!meet(*self, place)) wait_in_runtime<Family::gomp, "GOMP_barrier", void()>(place, place);
    return team.copied.load(std::memory_order_relaxed);
}

void GOMP_single_copy_end(void* data) {
    const void* const place = __builtin_return_address(0);
    Member* const self = serving(place, Family::gomp);
    if (self == nullptr) return wait_in_runtime<Family::gomp, "GOMP_single_copy_end", void(void*)>(place, place, data);
    self->team.load(std::memory_order_relaxed)->copied.store(data, std::memory_order_relaxed);
    if (!meet(*self, place)) wait_in_runtime<Family::gomp, "GOMP_barrier", void()>(place, place);
}

// Older compilers give fewer arguments than these; what lies on the stack in place of the others is passed on.

void GOMP_task(Body* body, void* data, void (*copy)(void*, void*), long size, long align, bool condition,
               unsigned flags, void** depend, int priority, void* detach) {
    making<Family::gomp, "GOMP_task", decltype(GOMP_task)>(address_of(body))(body, data, copy, size, align, condition,
                                                                             flags, depend, priority, detach);
}

void GOMP_taskloop(Body* body, void* data, void (*copy)(void*, void*), long size, long align, unsigned flags,
                   unsigned long tasks, int priority, long first, long end, long step) {
    making<Family::gomp, "GOMP_taskloop", decltype(GOMP_taskloop)>(address_of(body))(
        body, data, copy, size, align, flags, tasks, priority, first, end, step);
}

void GOMP_taskloop_ull(Body* body, void* data, void (*copy)(void*, void*), long size, long align, unsigned flags,
                       unsigned long tasks, int priority, unsigned long long first, unsigned long long end,
                       unsigned long long step) {
    making<Family::gomp, "GOMP_taskloop_ull", decltype(GOMP_taskloop_ull)>(address_of(body))(
        body, data, copy, size, align, flags, tasks, priority, first, end, step);
}

void GOMP_target_ext(int device, Body* body, std::size_t count, void** addresses, std::size_t* sizes,
                     unsigned short* kinds, unsigned flags, void** depend, void** arguments) {
    making<Family::gomp, "GOMP_target_ext", decltype(GOMP_target_ext)>(address_of(body))(
        device, body, count, addresses, sizes, kinds, flags, depend, arguments);
}

void GOMP_target_update_ext(int device, std::size_t count, void** addresses, std::size_t* sizes, unsigned short* kinds,
                            unsigned flags, void** depend) {
    making<Family::gomp, "GOMP_target_update_ext", decltype(GOMP_target_update_ext)>(__builtin_return_address(0))(
        device, count, addresses, sizes, kinds, flags, depend);
}

void GOMP_target_enter_exit_data(int device, std::size_t count, void** addresses, std::size_t* sizes,
                                 unsigned short* kinds, unsigned flags, void** depend) {
    making<Family::gomp, "GOMP_target_enter_exit_data", decltype(GOMP_target_enter_exit_data)>(
        __builtin_return_address(0))(device, count, addresses, sizes, kinds, flags, depend);
}

}  // extern "C"
