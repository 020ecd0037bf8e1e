// SPDX-License-Identifier: Apache-2.0
// Barriers that more than one of the programs measures, each made for a number of ranks.
#pragma once

#include <tollbar/barrier.hpp>
#include <tollbar/participant.hpp>

#include <pthread.h>

#include <barrier>
#include <string>
#include <system_error>
#include <utility>

namespace tollbar::bench {

/// A group of tollbar's, of this process or opened by name.
class GroupBarrier {
public:
    struct Seat {
        participant self;
        void episode() noexcept { self.arrive_and_wait(); }
    };

    GroupBarrier(Rank ranks, const std::string& plan, wait_policy wait) : group_(ranks, {.plan = plan, .wait = wait}) {}
    explicit GroupBarrier(group opened) : group_(std::move(opened)) {}

    Seat seat(Rank rank) { return {group_.join(rank)}; }

private:
    group group_;
};

struct OwnBarrier {
    explicit OwnBarrier(Rank ranks) : barrier(ranks) {}
    void episode() { barrier.arrive_and_wait(); }

    tollbar::barrier<> barrier;
};

struct StandardBarrier {
    explicit StandardBarrier(Rank ranks) : barrier(ranks) {}
    void episode() { barrier.arrive_and_wait(); }

    std::barrier<> barrier;
};

/// Works between processes too when it lies in memory that they share and is made with Scope::shared.
struct PthreadBarrier {
    explicit PthreadBarrier(Rank ranks, Scope scope = Scope::process) {
        pthread_barrierattr_t attributes;
        pthread_barrierattr_init(&attributes);
        pthread_barrierattr_setpshared(&attributes,
                                       scope == Scope::shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
        const int error = pthread_barrier_init(&barrier, &attributes, ranks);
        pthread_barrierattr_destroy(&attributes);
        if (error != 0) throw std::system_error(error, std::generic_category(), "pthread_barrier_init");
    }
    ~PthreadBarrier() { pthread_barrier_destroy(&barrier); }
    PthreadBarrier(const PthreadBarrier&) = delete;
    PthreadBarrier& operator=(const PthreadBarrier&) = delete;

    void episode() { pthread_barrier_wait(&barrier); }

    pthread_barrier_t barrier;
};

}  // namespace tollbar::bench
