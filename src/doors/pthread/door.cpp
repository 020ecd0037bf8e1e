// SPDX-License-Identifier: Apache-2.0
// The three functions: a gate where this library initialised the object, else glibc's.
#include "door.hpp"

#include "base/kept_errno.hpp"
#include "base/once.hpp"
#include "missing/places.hpp"
#include "missing/reporting.hpp"
#include "questions.hpp"
#include "visits.hpp"

#include <tollbar/detail/cpus.hpp>

#include <array>
#include <cerrno>
#include <dlfcn.h>
#include <new>

namespace tollbar::detail::pthread_door {

namespace {

template <Scope scope>
using NativeGate = Gate<NativeSync, scope>;

static_assert(sizeof(NativeGate<Scope::process>) <= sizeof(pthread_barrier_t));
static_assert(sizeof(NativeGate<Scope::shared>) <= sizeof(pthread_barrier_t));
static_assert(alignof(NativeGate<Scope::process>) <= alignof(pthread_barrier_t));

template <Scope scope>
NativeGate<scope>& gate_in(pthread_barrier_t* object) noexcept {
    return *std::launder(reinterpret_cast<NativeGate<scope>*>(object));
}

/// The C library's function in whose place ours is; null in a program that has none.
template <auto* function>
auto* real(const char* name) noexcept {
    static constinit Once<void*> found;
    return reinterpret_cast<decltype(function)>(found.get([name] {
        const c_door::KeptErrno kept;
        return dlsym(RTLD_NEXT, name);
    }));
}

template <auto* function, class... Arguments>
int call_real(const char* name, Arguments... arguments) noexcept {
    auto* const found = real<function>(name);
    return found == nullptr ? EINVAL : found(arguments...);
}

/// Whether spinning pays at a gate. Gates whose addresses share an entry share what they learn, which costs time and
/// never safety.
NativeSync::Backoff& learned(const void* object) noexcept {
    struct alignas(64) Entry {
        NativeSync::Backoff spinning;
    };
    constexpr unsigned bits = 8;
    static constinit std::array<Entry, 1 << bits> entries;
    const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(object) * 0x9e37'79b9'7f4a'7c15;
    return entries[mixed >> (64 - bits)].spinning;
}

template <Scope scope>
void wait_inside(NativeGate<scope>& gate, std::uint64_t target, std::uint64_t place, const void* caller) noexcept {
    // The first to arrive has waited longest, and speaks for all.
    wait_reporting(
        place == 0 ? own_timeout() : Timeout{},
        [&](auto deadline) { return gate.wait(target, learned(&gate), deadline); },
        [&](std::chrono::duration<double> waited) {
            const std::string called_at = place_of_call(caller);  // which takes a while, so the others are counted then
            report_missing({.gate = &gate,
                            .arrived = gate.arrived(target),
                            .expected = gate.expected(),
                            .shared = scope == Scope::shared,
                            .waited_s = waited.count(),
                            .place = called_at});
            return true;
        });
}

template <Scope scope>
int pass(pthread_barrier_t* object, const void* caller) noexcept {
    NativeGate<scope>& gate = gate_in<scope>(object);
    const bool is_last = gate.pass(visits::mine().visit, [&](std::uint64_t target, std::uint64_t place) {
        wait_inside(gate, target, place, caller);
    });
    return is_last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

/// A thread that still leaves, for wait(): nothing wakes who waits for it.
template <class AreGone>
struct AwaitedLeaving {
    bool happened() const noexcept { return are_gone(); }
    void progress() const noexcept {}

    bool sleep(Stopwatch& asleep, Never) const noexcept {
        NativeSync::nap_until(deadline_after(nap_after(asleep.elapsed())));
        return true;
    }

    const AreGone& are_gone;
};

template <Scope scope>
int clear(pthread_barrier_t* object) noexcept {
    const c_door::KeptErrno kept;
    NativeGate<scope>& gate = gate_in<scope>(object);
    gate.clear(
        [](auto look) {
            for (const VisitSlot* slot = visits::newest(); slot != nullptr; slot = slot->next) look(slot->visit);
        },
        [](const auto& are_gone) {
            const WaitBudget yielding{0, most_yields};
            detail::wait<NativeSync>(AwaitedLeaving<std::remove_cvref_t<decltype(are_gone)>>{are_gone}, yielding,
                                     Never{});
        });
    return 0;
}

}  // namespace

void find_glibc() noexcept {
    real<&pthread_barrier_init>("pthread_barrier_init");
    real<&pthread_barrier_wait>("pthread_barrier_wait");
    real<&pthread_barrier_destroy>("pthread_barrier_destroy");
}

int init_of_glibc(pthread_barrier_t* object, const pthread_barrierattr_t* attributes, unsigned count) noexcept {
    return call_real<&pthread_barrier_init>("pthread_barrier_init", object, attributes, count);
}

int init(pthread_barrier_t* object, const pthread_barrierattr_t* attributes, unsigned count) noexcept {
    if (count == 0 || count > NativeGate<Scope::process>::max_expected) return EINVAL;
    int shared = PTHREAD_PROCESS_PRIVATE;
    if (attributes != nullptr) pthread_barrierattr_getpshared(attributes, &shared);
    if (shared == PTHREAD_PROCESS_PRIVATE) {
        new (object) NativeGate<Scope::process>(count);
        return 0;
    }
    if (only_children_share(object)) {
        new (object) NativeGate<Scope::shared>(count);
        return 0;
    }
    if (environment::verbosity() >= 1)
        tollbar_say_once("pthread shared",
                         "a process-shared pthread barrier that is not in anonymous memory is glibc's");
    return init_of_glibc(object, attributes, count);
}

int wait(pthread_barrier_t* object, const void* caller) noexcept {
    const std::uint32_t kind = gate_in<Scope::process>(object).kind();
    if (kind == gate_kind(Scope::process)) [[likely]]
        return pass<Scope::process>(object, caller);
    if (kind == gate_kind(Scope::shared)) return pass<Scope::shared>(object, caller);
    return call_real<&pthread_barrier_wait>("pthread_barrier_wait", object);
}

int destroy(pthread_barrier_t* object) noexcept {
    const std::uint32_t kind = gate_in<Scope::process>(object).kind();
    if (kind == gate_kind(Scope::process)) return clear<Scope::process>(object);
    if (kind == gate_kind(Scope::shared)) return clear<Scope::shared>(object);
    return call_real<&pthread_barrier_destroy>("pthread_barrier_destroy", object);
}

}  // namespace tollbar::detail::pthread_door
