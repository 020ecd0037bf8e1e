// SPDX-License-Identifier: Apache-2.0
// pthread_barrier_wait as libtollbar_pthread.so gives it, in a program in which glibc's can be measured, too.
#include "candidates.hpp"

#include "doors/pthread/door.hpp"

#include <new>

namespace tollbar::bench {

namespace {

class DoorBarrier {
public:
    explicit DoorBarrier(Rank ranks) {
        if (detail::pthread_door::init(&barrier_, nullptr, ranks) != 0) throw std::bad_alloc();
    }
    ~DoorBarrier() { detail::pthread_door::destroy(&barrier_); }
    DoorBarrier(const DoorBarrier&) = delete;
    DoorBarrier& operator=(const DoorBarrier&) = delete;

    void episode() noexcept { detail::pthread_door::wait(&barrier_, nullptr); }

private:
    pthread_barrier_t barrier_;
};

}  // namespace

bool add_door(Roster& roster, Rank ranks) {
    roster.add<Everywhere<DoorBarrier>>({"pthread_door", "barrier"}, ranks);
    return true;
}

}  // namespace tollbar::bench
