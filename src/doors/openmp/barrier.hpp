// SPDX-License-Identifier: Apache-2.0
// The barrier of a region, as both sets of functions call it, and how a region is entered.
#pragma once

#include "member.hpp"

namespace tollbar::detail::openmp {

/// The region of the calling thread, with which `place` shares a runtime and whose barriers are tollbar's; null where
/// the runtime's own function is to be called. All threads of a team get the same answer.
ThreadRecord* serving_elsewhere(ThreadRecord* self, const void* place, Family family) noexcept;

[[gnu::always_inline]] inline ThreadRecord* serving(const void* place, Family family) noexcept {
    ThreadRecord* const self = innermost;
    if (self != nullptr && self->team.load(std::memory_order_relaxed) != nullptr &&
        (self->home->covers(place, family) || self->guest.covers(place, family))) [[likely]]
        return self;
    return serving_elsewhere(self, place, family);
}

/// The runtime that the code at `place` calls. Code of this library calls that of the region that it is in.
const Runtime& runtime_of(const void* place, Family family) noexcept;

/// Waits until the barrier is over that the caller has arrived at.
void await_end(ThreadRecord& self, NativeTeam& team, std::uint64_t barrier) noexcept;

/// Arrives at the team's leaves and waits there until the barrier is over.
void meet_at_leaves(ThreadRecord& self) noexcept;

/// Meets the team at its next barrier. False where the first task of the region was made before: then, and until the
/// region's end, the caller has to call the runtime's own barrier, as all its threads have to.
/// Memory order: when true, what any thread of the team did before it came is visible to all that have left.
[[gnu::always_inline]] inline bool meet(ThreadRecord& self, const void* place) noexcept {
    NativeTeam& team = *self.team.load(std::memory_order_relaxed);
    const std::uint64_t barrier = self.barriers.load(std::memory_order_relaxed);
    self.barriers.store(barrier + 1, std::memory_order_relaxed);
    self.place.store(place, std::memory_order_relaxed);
    if (self.leaves != nullptr)
        meet_at_leaves(self);
    else if (!team.arrive(barrier, self.threads))
        await_end(self, team, barrier);
    if (!team.is_left_to_runtime(barrier)) [[likely]]
        return true;
    self.team.store(nullptr, std::memory_order_relaxed);
    return false;
}

/// Before a task is made, by whatever the thread is in: a task of a region inside, which has ended but for its tasks,
/// finds the region around it, whose team the thread may not have joined yet.
inline void note_task() noexcept {
    ThreadRecord* const self = innermost;
    if (self == nullptr) return;
    if (NativeTeam* const team = self->team.load(std::memory_order_relaxed); team != nullptr)
        team->note_task(self->barriers.load(std::memory_order_relaxed));
    else if (self->lent != nullptr)
        self->lent->note_task(0);
}

/// The real function, for the code that has called the door from `place`.
template <Family family, Name name, class Function>
Function* real_of(const void* place) noexcept {
    return runtime_of(place, family).real<name, Function>();
}

/// Has the real function make a task, which is noted.
template <Family family, Name name, class Result = void, class... Arguments>
Result make_task(const void* place, Arguments... arguments) {
    note_task();
    return real_of<family, name, Result(Arguments...)>(place)(arguments...);
}

}  // namespace tollbar::detail::openmp
