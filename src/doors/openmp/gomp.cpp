// SPDX-License-Identifier: Apache-2.0
// The functions that GCC's code calls, of libgomp or of libomp: regions are opened with a trampoline in between, waits
// inside them go to the region's team, and tasks are noted.
#include "missing.hpp"

#include <cstddef>

using namespace tollbar::detail::openmp;

namespace {

using Body = void(void*);

const void* address_of(Body* body) noexcept { return reinterpret_cast<const void*>(body); }

constexpr unsigned address_bits = 48;

/// A region as one address, which the runtime hands to its threads: above the 48 bits of the data's address those for
/// the team and for the body, which the team knows by a number. So no thread reads what its master has just written.
/// Null where the runtime is not served, the addresses of the program have more bits, or there are more teams.
void* handed(NativeTeam& team, Body* body, void* data) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    if (!team.home.runtime->is_served() || team.number == 0 || address >> address_bits != 0) return nullptr;
    const std::uint64_t which = team.number * NativeTeam::most_bodies + team.number_of(address_of(body));
    return reinterpret_cast<void*>(which << address_bits | address);
}

/// Every thread of a team runs this in place of the region's body.
void run_body(void* given) {
    const auto bits = reinterpret_cast<std::uintptr_t>(given), which = bits >> address_bits;
    NativeTeam& team = team_numbered(which / NativeTeam::most_bodies);
    const void* const body = team.bodies[which % NativeTeam::most_bodies];
    const EnteredRegion visit(team, body);
    reinterpret_cast<Body*>(const_cast<void*>(body))(reinterpret_cast<void*>(bits ^ which << address_bits));
    note_end(visit.inner());
}

/// Opens a region by the runtime's function of that name, for so many threads; 0: as many as the runtime has by
/// default.
template <Name name, class... Rest>
void open(Body* body, void* data, unsigned threads, Rest... rest) {
    const Site home = site_of(address_of(body), Family::gomp);
    auto* const real = home.runtime->real<name, void(Body*, void*, unsigned, Rest...)>();
    NativeTeam& team = lend(home, static_cast<int>(threads));
    if (void* const whole = handed(team, body, data); whole != nullptr) {
        real(run_body, whole, threads, rest...);
    } else {
        const EnteredRegion outside(*innermost, home);
        real(body, data, threads, rest...);
    }
    end_loan();
}

/// Begins a region whose body the master runs by itself before it calls GOMP_parallel_end, as GCC before 4.9 has it.
template <Name name, class... Rest>
void begin(Body* body, void* data, unsigned threads, Rest... rest) {
    const Site home = site_of(address_of(body), Family::gomp);
    auto* const real = home.runtime->real<name, void(Body*, void*, unsigned, Rest...)>();
    NativeTeam& team = lend(home, static_cast<int>(threads));
    void* const whole = handed(team, body, data);
    real(whole == nullptr ? body : run_body, whole == nullptr ? data : whole, threads, rest...);
    if (whole == nullptr)
        enter(*innermost, team.home, Entered::by_its_master);
    else
        enter(*innermost, team, address_of(body), Entered::by_its_master);
}

/// The team's barrier, or the runtime's of that name, of which some say whether the region was cancelled, which none is
/// that is served.
template <Name barrier, class Result = void>
Result meet_or_call(const void* place) {
    ThreadRecord* const self = serving(place, Family::gomp);
    if (self == nullptr || !meet(*self, place)) return wait_in_runtime<Family::gomp, barrier, Result()>(place, place);
    return Result();
}

/// The end of a construct: the runtime's end that does not wait, then the barrier.
template <Name end, Name nowait, Name barrier = "GOMP_barrier", class Result = void>
Result meet_at_end(const void* place) {
    ThreadRecord* const self = serving(place, Family::gomp);
    if (self == nullptr) return wait_in_runtime<Family::gomp, end, Result()>(place, place);
    self->home->runtime->real<nowait, void()>()();
    return meet_or_call<barrier, Result>(place);
}

}  // namespace

extern "C" {

void GOMP_parallel(Body* body, void* data, unsigned n, unsigned flags) { open<"GOMP_parallel">(body, data, n, flags); }
void GOMP_parallel_sections(Body* body, void* data, unsigned n, unsigned count, unsigned flags) {
    open<"GOMP_parallel_sections">(body, data, n, count, flags);
}

// Loops have the body `f` and its data `x`, `n` threads, in `a` to `d` the first iteration, the end, the step and the
// size of a chunk, and the flags `g`.

void GOMP_parallel_loop_static(Body* f, void* x, unsigned n, long a, long b, long c, long d, unsigned g) {
    open<"GOMP_parallel_loop_static">(f, x, n, a, b, c, d, g);
}
void GOMP_parallel_loop_dynamic(Body* f, void* x, unsigned n, long a, long b, long c, long d, unsigned g) {
    open<"GOMP_parallel_loop_dynamic">(f, x, n, a, b, c, d, g);
}
void GOMP_parallel_loop_guided(Body* f, void* x, unsigned n, long a, long b, long c, long d, unsigned g) {
    open<"GOMP_parallel_loop_guided">(f, x, n, a, b, c, d, g);
}
void GOMP_parallel_loop_nonmonotonic_dynamic(Body* f, void* x, unsigned n, long a, long b, long c, long d, unsigned g) {
    open<"GOMP_parallel_loop_nonmonotonic_dynamic">(f, x, n, a, b, c, d, g);
}
void GOMP_parallel_loop_nonmonotonic_guided(Body* f, void* x, unsigned n, long a, long b, long c, long d, unsigned g) {
    open<"GOMP_parallel_loop_nonmonotonic_guided">(f, x, n, a, b, c, d, g);
}
void GOMP_parallel_loop_runtime(Body* f, void* x, unsigned n, long a, long b, long c, unsigned g) {
    open<"GOMP_parallel_loop_runtime">(f, x, n, a, b, c, g);
}
void GOMP_parallel_loop_nonmonotonic_runtime(Body* f, void* x, unsigned n, long a, long b, long c, unsigned g) {
    open<"GOMP_parallel_loop_nonmonotonic_runtime">(f, x, n, a, b, c, g);
}
void GOMP_parallel_loop_maybe_nonmonotonic_runtime(Body* f, void* x, unsigned n, long a, long b, long c, unsigned g) {
    open<"GOMP_parallel_loop_maybe_nonmonotonic_runtime">(f, x, n, a, b, c, g);
}

void GOMP_parallel_start(Body* body, void* data, unsigned n) { begin<"GOMP_parallel_start">(body, data, n); }
void GOMP_parallel_sections_start(Body* body, void* data, unsigned n, unsigned count) {
    begin<"GOMP_parallel_sections_start">(body, data, n, count);
}
void GOMP_parallel_loop_static_start(Body* body, void* data, unsigned n, long a, long b, long c, long d) {
    begin<"GOMP_parallel_loop_static_start">(body, data, n, a, b, c, d);
}
void GOMP_parallel_loop_dynamic_start(Body* body, void* data, unsigned n, long a, long b, long c, long d) {
    begin<"GOMP_parallel_loop_dynamic_start">(body, data, n, a, b, c, d);
}
void GOMP_parallel_loop_guided_start(Body* body, void* data, unsigned n, long a, long b, long c, long d) {
    begin<"GOMP_parallel_loop_guided_start">(body, data, n, a, b, c, d);
}
void GOMP_parallel_loop_runtime_start(Body* body, void* data, unsigned n, long a, long b, long c) {
    begin<"GOMP_parallel_loop_runtime_start">(body, data, n, a, b, c);
}

void GOMP_parallel_end() {
    ThreadRecord* const self = innermost;
    if (self == nullptr || self->as != Entered::by_its_master)
        return real_of<Family::gomp, "GOMP_parallel_end", void()>(__builtin_return_address(0))();
    note_end(*self);
    self->home->runtime->real<"GOMP_parallel_end", void()>()();
    leave(*self);
    end_loan();
}

/// The runtime reads a table of reductions at `data` and gives the body the same data, so that nothing can be put in
/// between: the region's barriers stay the runtime's.
unsigned GOMP_parallel_reductions(Body* body, void* data, unsigned threads, unsigned flags) {
    const Site home = site_of(address_of(body), Family::gomp);
    const EnteredRegion outside(own_member(), home);
    return real_of<Family::gomp, "GOMP_parallel_reductions", decltype(GOMP_parallel_reductions)>(address_of(body))(
        body, data, threads, flags);
}

void GOMP_teams_reg(Body* body, void* data, unsigned teams, unsigned threads, unsigned flags) {
    const Site home = site_of(address_of(body), Family::gomp);
    const EnteredRegion outside(own_member(), home);
    real_of<Family::gomp, "GOMP_teams_reg", decltype(GOMP_teams_reg)>(address_of(body))(body, data, teams, threads,
                                                                                        flags);
}

void GOMP_barrier() { meet_or_call<"GOMP_barrier">(__builtin_return_address(0)); }
bool GOMP_barrier_cancel() { return meet_or_call<"GOMP_barrier_cancel", bool>(__builtin_return_address(0)); }
void GOMP_loop_end() { meet_at_end<"GOMP_loop_end", "GOMP_loop_end_nowait">(__builtin_return_address(0)); }
void GOMP_sections_end() { meet_at_end<"GOMP_sections_end", "GOMP_sections_end_nowait">(__builtin_return_address(0)); }
bool GOMP_loop_end_cancel() {
    return meet_at_end<"GOMP_loop_end_cancel", "GOMP_loop_end_nowait", "GOMP_barrier_cancel", bool>(
        __builtin_return_address(0));
}
bool GOMP_sections_end_cancel() {
    return meet_at_end<"GOMP_sections_end_cancel", "GOMP_sections_end_nowait", "GOMP_barrier_cancel", bool>(
        __builtin_return_address(0));
}

/// Null for the thread that runs the block, for the others the address that it gives to GOMP_single_copy_end. The
/// compiler calls GOMP_barrier after both: the address stays until then.
void* GOMP_single_copy_start() {
    const void* const place = __builtin_return_address(0);
    ThreadRecord* const self = serving(place, Family::gomp);
    if (self == nullptr) return wait_in_runtime<Family::gomp, "GOMP_single_copy_start", void*()>(place, place);
    NativeTeam& team = *self->team.load(std::memory_order_relaxed);
    if (real_of<Family::gomp, "GOMP_single_start", bool()>(place)()) return nullptr;
    meet_or_call<"GOMP_barrier">(place);
    return team.copied.load(std::memory_order_relaxed);
}

void GOMP_single_copy_end(void* data) {
    const void* const place = __builtin_return_address(0);
    ThreadRecord* const self = serving(place, Family::gomp);
    if (self == nullptr) return wait_in_runtime<Family::gomp, "GOMP_single_copy_end", void(void*)>(place, place, data);
    self->team.load(std::memory_order_relaxed)->copied.store(data, std::memory_order_relaxed);
    meet_or_call<"GOMP_barrier">(place);
}

// Older compilers give fewer arguments than these; what lies on the stack in place of the others is passed on.

void GOMP_task(Body* body, void* data, void (*copy)(void*, void*), long size, long align, bool condition,
               unsigned flags, void** depend, int priority, void* detach) {
    make_task<Family::gomp, "GOMP_task">(address_of(body), body, data, copy, size, align, condition, flags, depend,
                                         priority, detach);
}

void GOMP_taskloop(Body* body, void* data, void (*copy)(void*, void*), long size, long align, unsigned flags,
                   unsigned long tasks, int priority, long first, long end, long step) {
    make_task<Family::gomp, "GOMP_taskloop">(address_of(body), body, data, copy, size, align, flags, tasks, priority,
                                             first, end, step);
}

void GOMP_taskloop_ull(Body* body, void* data, void (*copy)(void*, void*), long size, long align, unsigned flags,
                       unsigned long tasks, int priority, unsigned long long first, unsigned long long end,
                       unsigned long long step) {
    make_task<Family::gomp, "GOMP_taskloop_ull">(address_of(body), body, data, copy, size, align, flags, tasks,
                                                 priority, first, end, step);
}

void GOMP_target_ext(int device, Body* body, std::size_t count, void** addresses, std::size_t* sizes,
                     unsigned short* kinds, unsigned flags, void** depend, void** arguments) {
    make_task<Family::gomp, "GOMP_target_ext">(address_of(body), device, body, count, addresses, sizes, kinds, flags,
                                               depend, arguments);
}

void GOMP_target_update_ext(int device, std::size_t count, void** addresses, std::size_t* sizes, unsigned short* kinds,
                            unsigned flags, void** depend) {
    make_task<Family::gomp, "GOMP_target_update_ext">(__builtin_return_address(0), device, count, addresses, sizes,
                                                      kinds, flags, depend);
}

void GOMP_target_enter_exit_data(int device, std::size_t count, void** addresses, std::size_t* sizes,
                                 unsigned short* kinds, unsigned flags, void** depend) {
    make_task<Family::gomp, "GOMP_target_enter_exit_data">(__builtin_return_address(0), device, count, addresses, sizes,
                                                           kinds, flags, depend);
}

}  // extern "C"
