// SPDX-License-Identifier: Apache-2.0
// How threads of regions note where they wait, and the thread that looks at these notes to name the missing.
// All of it happens only where TOLLBAR_TIMEOUT is set.
#pragma once

#include "barrier.hpp"

namespace tollbar::detail::openmp {

/// The calling thread has become a member of a region that tollbar serves. Starts the thread that looks.
void note_begin(ThreadRecord& self, const NativeTeam& team) noexcept;

/// The thread waits at the barrier at which it has arrived.
void note_wait(ThreadRecord& self) noexcept;

/// The thread arrives at a barrier that is the runtime's, and waits there, which says nothing of where the team meets
/// next. No place: the end of its region.
void note_runtimes_wait(ThreadRecord& self, const void* place) noexcept;

/// The thread waits for the end of its region.
inline void note_end(ThreadRecord& self) noexcept {
    if (self.watched.team.load(std::memory_order_relaxed) != nullptr) note_runtimes_wait(self, nullptr);
}

/// Around a wait of the calling thread.
class NotedWait {
public:
    explicit NotedWait(ThreadRecord& self) noexcept : self_(&self) { note_wait(self); }

    /// In a function of that runtime. One of another runtime than the region's waits for nobody of the region, which a
    /// part of its threads may call.
    NotedWait(const Runtime& runtime, const void* place) noexcept : self_(innermost) {
        if (self_ != nullptr && self_->watched.team.load(std::memory_order_relaxed) != nullptr &&
            self_->home->runtime == &runtime)
            note_runtimes_wait(*self_, place);
    }
    ~NotedWait() {
        if (self_ != nullptr) self_->watched.waits_since.store(0, std::memory_order_relaxed);
    }
    NotedWait(const NotedWait&) = delete;
    NotedWait& operator=(const NotedWait&) = delete;

private:
    ThreadRecord* const self_;
};

/// A wait in the runtime's function of that name, which the code at `place` would have called. Tasks run there, and may
/// end their thread.
template <Family family, Name name, class Function, class... Arguments>
auto wait_in_runtime(const void* place, const void* caller, Arguments... arguments) {
    const Runtime& runtime = runtime_of(place, family);
    const NotedWait noted(runtime, caller);
    return runtime.real<name, Function>()(arguments...);
}

}  // namespace tollbar::detail::openmp
