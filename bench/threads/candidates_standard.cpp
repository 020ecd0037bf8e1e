// SPDX-License-Identifier: Apache-2.0
// What every user has today: std::barrier and pthread_barrier.
#include "candidate.hpp"

#include <gnu/libc-version.h>
#include <pthread.h>

#include <barrier>
#include <system_error>

namespace tollbar::bench {

namespace {

struct StandardBarrier {
    explicit StandardBarrier(Rank ranks) : barrier(ranks) {}
    void episode() { barrier.arrive_and_wait(); }

    std::barrier<> barrier;
};

struct PthreadBarrier {
    explicit PthreadBarrier(Rank ranks) {
        if (const int error = pthread_barrier_init(&barrier, nullptr, ranks); error != 0)
            throw std::system_error(error, std::generic_category(), "pthread_barrier_init");
    }
    ~PthreadBarrier() { pthread_barrier_destroy(&barrier); }
    PthreadBarrier(const PthreadBarrier&) = delete;
    PthreadBarrier& operator=(const PthreadBarrier&) = delete;

    void episode() { pthread_barrier_wait(&barrier); }

    pthread_barrier_t barrier;
};

}  // namespace

void add_standard_peers(Roster& roster, Rank ranks) {
    roster.add<Everywhere<StandardBarrier>>({"std::barrier", "peer"}, ranks);
    roster.add<Everywhere<PthreadBarrier>>({"pthread_barrier", "peer"}, ranks);
    roster.versions.emplace_back("glibc", gnu_get_libc_version());
    roster.versions.emplace_back("libstdc++", std::to_string(__GLIBCXX__));
}

}  // namespace tollbar::bench
