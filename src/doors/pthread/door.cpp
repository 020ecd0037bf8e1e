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
#include <type_traits>
#include <utility>

namespace tollbar::detail::pthread_door {

namespace {

using OwnGate = Gate<NativeSync, Scope::process>;
using SharedGate = Gate<NativeSync, Scope::shared>;
using LeavesGate = GateAtLeaves<NativeSync>;

template <class AnyGate>
AnyGate& gate_in(pthread_barrier_t* object) noexcept {
    static_assert(sizeof(AnyGate) <= sizeof(pthread_barrier_t) && alignof(AnyGate) <= alignof(pthread_barrier_t));
    return *std::launder(reinterpret_cast<AnyGate*>(object));
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

template <Scope scope, class Deadline>
bool wait_at(Gate<NativeSync, scope>& gate, std::uint64_t target, Deadline deadline) noexcept {
    return gate.wait(target, learned(&gate), deadline);
}

template <class Deadline>
bool wait_at(LeavesGate& gate, std::uint64_t ticket, Deadline deadline) noexcept {
    return gate.wait(ticket, deadline);
}

/// Waits for the end of a phase. The first to arrive has waited longest, and speaks for all.
template <class AnyGate>
void wait_inside(AnyGate& gate, std::uint64_t target, bool speaks, const void* caller) noexcept {
    wait_reporting(
        speaks ? own_timeout() : Timeout{}, [&](auto deadline) { return wait_at(gate, target, deadline); },
        [&](std::chrono::duration<double> waited) {
            const std::string called_at = place_of_call(caller);  // which takes a while, so the others are counted then
            report_missing({.gate = &gate,
                            .arrived = gate.arrived(target),
                            .expected = gate.expected(),
                            .shared = std::is_same_v<AnyGate, SharedGate>,
                            .waited_s = waited.count(),
                            .place = called_at});
            return true;
        });
}

template <class AnyGate>
int pass(pthread_barrier_t* object, const void* caller) noexcept {
    auto& gate = gate_in<AnyGate>(object);
    bool is_last;
    if constexpr (std::is_same_v<AnyGate, LeavesGate>)
        is_last = gate.pass(visits::mine().visit, [&](std::uint64_t ticket) {
            wait_inside(gate, ticket, own_timeout() && gate.is_first(ticket), caller);
        });
    else
        is_last = gate.pass(visits::mine().visit, [&](std::uint64_t target, std::uint64_t place) {
            wait_inside(gate, target, place == 0, caller);
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

/// A gate at leaves becomes one without: programs that destroy a barrier of glibc's twice, or go on waiting at it,
/// work.
template <class AnyGate>
int clear(pthread_barrier_t* object) noexcept {
    const c_door::KeptErrno kept;
    auto& gate = gate_in<AnyGate>(object);
    const std::uint32_t expected = gate.expected();
    gate.clear(
        [](auto look) {
            for (const VisitSlot* slot = visits::newest(); slot != nullptr; slot = slot->next) look(slot->visit);
        },
        [](const auto& are_gone) {
            const WaitBudget yielding{0, most_yields};
            detail::wait<NativeSync>(AwaitedLeaving<std::remove_cvref_t<decltype(are_gone)>>{are_gone}, yielding,
                                     Never{});
        });
    if constexpr (std::is_same_v<AnyGate, LeavesGate>) new (object) OwnGate(expected);
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
    if (count == 0 || count > OwnGate::max_expected) return EINVAL;
    int shared = PTHREAD_PROCESS_PRIVATE;
    if (attributes != nullptr) pthread_barrierattr_getpshared(attributes, &shared);
    if (shared == PTHREAD_PROCESS_PRIVATE) {
        auto leaves = count < fewest_for_leaves ? nullptr : leaves_for(count);
        if (leaves != nullptr)
            new (object) LeavesGate(std::move(leaves));
        else
            new (object) OwnGate(count);
        return 0;
    }
    if (only_children_share(object)) {
        new (object) SharedGate(count);
        return 0;
    }
    if (environment::verbosity() >= 1)
        tollbar_say_once("pthread shared",
                         "a process-shared pthread barrier that is not in anonymous memory is glibc's");
    return init_of_glibc(object, attributes, count);
}

int wait(pthread_barrier_t* object, const void* caller) noexcept {
    const std::uint32_t kind = gate_in<OwnGate>(object).kind();
    if (kind == gate_kind(Scope::process)) [[likely]]
        return pass<OwnGate>(object, caller);
    if (kind == kind_at_leaves) return pass<LeavesGate>(object, caller);
    if (kind == gate_kind(Scope::shared)) return pass<SharedGate>(object, caller);
    return call_real<&pthread_barrier_wait>("pthread_barrier_wait", object);
}

int destroy(pthread_barrier_t* object) noexcept {
    const std::uint32_t kind = gate_in<OwnGate>(object).kind();
    if (kind == gate_kind(Scope::process)) return clear<OwnGate>(object);
    if (kind == kind_at_leaves) return clear<LeavesGate>(object);
    if (kind == gate_kind(Scope::shared)) return clear<SharedGate>(object);
    return call_real<&pthread_barrier_destroy>("pthread_barrier_destroy", object);
}

}  // namespace tollbar::detail::pthread_door
