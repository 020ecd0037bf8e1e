// SPDX-License-Identifier: Apache-2.0
// Keeps the list. Whoever finds it in use goes on without: help is asked for again soon.
#include "helping.hpp"

#include "barrier.hpp"

#include "transports/shmem/open_mpi.hpp"

#include <cstdio>
#include <vector>

namespace tollbar::shmem {

namespace {

enum class Whom : std::uint8_t { all, engine };

/// The one State of the library.
struct Known {
    std::atomic_flag in_use;
    std::vector<tollbar_shmem_barrier*> barriers;
    int needing_calls = 0;
    int with_engine = 0;

    /// The program ends; the OpenSHMEM is gone already, nothing of it may be asked.
    ~Known() {
        for (const tollbar_shmem_barrier* barrier : barriers)
            if (barrier->open && barrier->fault == 0)
                std::fprintf(stderr,
                             "tollbar: PE %d has ended inside episode %llu of a barrier (%s, %u PEs): wait "
                             "before shmem_finalize\n",
                             barrier->members.pes[*barrier->members.self],
                             static_cast<unsigned long long>(barrier->course->episode()), barrier->spelling.c_str(),
                             static_cast<unsigned>(barrier->members.size()));
    }
};
Known known;

bool needs_calls(const tollbar_shmem_barrier& barrier) { return barrier.course && !barrier.course->one_shot(); }

int help(Whom whom) noexcept {
    if (known.in_use.test_and_set(std::memory_order_acquire)) return 0;
    int advanced = 0;
    for (tollbar_shmem_barrier* barrier : known.barriers) {
        if (whom == Whom::engine ? !barrier->engine : !needs_calls(*barrier)) continue;
        if (!barrier->usage.enter_to_help()) continue;
        if (barrier->open && !barrier->course->finished() && barrier->course->advance()) ++advanced;
        barrier->usage.leave();
    }
    known.in_use.clear(std::memory_order_release);
    return advanced;
}

int help_by_engine() { return help(Whom::engine); }

template <class Action>
void with_list(Action action) {
    while (known.in_use.test_and_set(std::memory_order_acquire)) NativeSync::yield();
    action();
    known.in_use.clear(std::memory_order_release);
}

}  // namespace

void remember(tollbar_shmem_barrier& barrier) {
    if (barrier.engine && known.with_engine == 0) join_progress(help_by_engine);
    with_list([&] {
        known.barriers.push_back(&barrier);
        known.needing_calls += needs_calls(barrier) ? 1 : 0;
        known.with_engine += barrier.engine ? 1 : 0;
    });
}

void forget(tollbar_shmem_barrier& barrier) noexcept {
    with_list([&] {
        std::erase(known.barriers, &barrier);
        known.needing_calls -= needs_calls(barrier) ? 1 : 0;
        known.with_engine -= barrier.engine ? 1 : 0;
    });
    if (barrier.engine && known.with_engine == 0) leave_progress(help_by_engine);
}

void help_others(const tollbar_shmem_barrier& barrier) noexcept {
    if (known.needing_calls > (needs_calls(barrier) ? 1 : 0)) help(Whom::all);
}

}  // namespace tollbar::shmem
