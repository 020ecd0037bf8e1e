// SPDX-License-Identifier: Apache-2.0
// Keeps the list. A call that finds it in use goes on without advancing any barrier: there will be another turn soon.
#include "registry.hpp"

#include "barrier.hpp"

#include "base/say.h"
#include "transports/shmem/open_mpi.hpp"

#include <algorithm>
#include <vector>

namespace tollbar::detail::shmem {

namespace {

/// The one State of the library.
struct Registry {
    std::atomic_flag in_use;
    std::vector<tollbar_shmem_barrier*> barriers;
};

/// Never destroyed: threads may advance barriers while the process ends.
Registry& registry = *new Registry;

/// The program ends; the OpenSHMEM is gone already, nothing of it may be asked.
[[gnu::destructor]] void name_open_barriers() {
    if (registry.in_use.test_and_set(std::memory_order_acquire)) return;
    for (const tollbar_shmem_barrier* barrier : registry.barriers)
        if (barrier->open && barrier->fault == 0)
            tollbar_say("PE %d has ended inside episode %llu of a barrier (%s, %u PEs): wait before shmem_finalize",
                        barrier->members.pes[*barrier->members.self],
                        static_cast<unsigned long long>(barrier->runner->episode()), barrier->spelling.c_str(),
                        static_cast<unsigned>(barrier->members.size()));
    registry.in_use.clear(std::memory_order_release);
}

bool has_engine(const tollbar_shmem_barrier* barrier) { return barrier->engine; }
bool needs_calls(const tollbar_shmem_barrier* barrier) { return !barrier->one_shot; }

/// Advances the open barriers that are in no call; gives how many episodes ended.
int advance(bool (*which)(const tollbar_shmem_barrier*)) noexcept {
    if (registry.in_use.test_and_set(std::memory_order_acquire)) return 0;
    int ended = 0;
    for (tollbar_shmem_barrier* barrier : registry.barriers) {
        if (!which(barrier) || !barrier->lock.enter_uncalled()) continue;
        if (barrier->open && !barrier->runner->finished() && barrier->runner->advance()) ++ended;
        barrier->lock.leave();
    }
    registry.in_use.clear(std::memory_order_release);
    return ended;
}

int advance_by_engine() { return advance(has_engine); }

template <class Action>
void with_list(Action action) {
    while (registry.in_use.test_and_set(std::memory_order_acquire)) NativeSync::yield();
    action();
    registry.in_use.clear(std::memory_order_release);
}

}  // namespace

void register_barrier(tollbar_shmem_barrier& barrier) {
    if (barrier.engine && std::ranges::none_of(registry.barriers, has_engine)) join_progress(advance_by_engine);
    with_list([&] { registry.barriers.push_back(&barrier); });
}

void unregister_barrier(tollbar_shmem_barrier& barrier) noexcept {
    with_list([&] { std::erase(registry.barriers, &barrier); });
    if (barrier.engine && std::ranges::none_of(registry.barriers, has_engine)) leave_progress(advance_by_engine);
}

void advance_others() noexcept { advance(needs_calls); }

}  // namespace tollbar::detail::shmem
