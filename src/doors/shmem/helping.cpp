// SPDX-License-Identifier: Apache-2.0
// Keeps the list. Whoever finds it in use goes on without: help is asked for again soon.
#include "helping.hpp"

#include "barrier.hpp"

#include "transports/shmem/open_mpi.hpp"

#include <algorithm>
#include <vector>

namespace tollbar::shmem {

namespace {

enum class Whom : std::uint8_t { all, engine };

/// The one State of the library.
struct Helped {
    std::atomic_flag in_use;
    std::vector<tollbar_shmem_barrier*> barriers;
    int with_engine = 0;
};
Helped helped;

int help(Whom whom) noexcept {
    if (helped.in_use.test_and_set(std::memory_order_acquire)) return 0;
    int advanced = 0;
    for (tollbar_shmem_barrier* barrier : helped.barriers) {
        if ((whom == Whom::engine && !barrier->engine) || !barrier->usage.enter_to_help()) continue;
        if (barrier->open && !barrier->course->finished() && barrier->course->advance()) ++advanced;
        barrier->usage.leave();
    }
    helped.in_use.clear(std::memory_order_release);
    return advanced;
}

int help_by_engine() { return help(Whom::engine); }

template <class Action>
void with_list(Action action) {
    while (helped.in_use.test_and_set(std::memory_order_acquire)) NativeSync::yield();
    action();
    helped.in_use.clear(std::memory_order_release);
}

}  // namespace

void remember(tollbar_shmem_barrier& barrier) {
    if (barrier.engine && helped.with_engine == 0) join_progress(help_by_engine);
    with_list([&] {
        helped.barriers.push_back(&barrier);
        helped.with_engine += barrier.engine ? 1 : 0;
    });
}

void forget(tollbar_shmem_barrier& barrier) noexcept {
    with_list([&] {
        if (std::erase(helped.barriers, &barrier) != 0) helped.with_engine -= barrier.engine ? 1 : 0;
    });
    if (barrier.engine && helped.with_engine == 0) leave_progress(help_by_engine);
}

void help_others() noexcept {
    // Two at least: the caller's own, and another one.
    if (helped.barriers.size() > 1) help(Whom::all);
}

}  // namespace tollbar::shmem
