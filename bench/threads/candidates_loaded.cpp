// SPDX-License-Identifier: Apache-2.0
// Somebody else's barrier: that of a preloaded library with the three functions of tollbar/toll.h.
#include "candidates.hpp"

#include <tollbar/toll.h>

#include <dlfcn.h>

namespace tollbar::bench {

namespace {

template <class Function>
Function* loaded(const char* name) noexcept {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

class LoadedBarrier {
public:
    explicit LoadedBarrier(Rank ranks)
        : barrier_(loaded<decltype(tollbar_checked_create)>("tollbar_checked_create")(ranks)) {}
    ~LoadedBarrier() { loaded<decltype(tollbar_checked_destroy)>("tollbar_checked_destroy")(barrier_); }
    LoadedBarrier(const LoadedBarrier&) = delete;
    LoadedBarrier& operator=(const LoadedBarrier&) = delete;

    struct Seat {
        decltype(tollbar_checked_arrive_and_wait)* enter;
        void* barrier;
        Rank rank;
        void episode() const noexcept { enter(barrier, rank); }
    };
    Seat seat(Rank rank) const noexcept {
        return {loaded<decltype(tollbar_checked_arrive_and_wait)>("tollbar_checked_arrive_and_wait"), barrier_, rank};
    }

private:
    void* barrier_;
};

}  // namespace

void add_loaded(Roster& roster, Rank ranks) {
    for (const char* name : {"tollbar_checked_create", "tollbar_checked_arrive_and_wait", "tollbar_checked_destroy"})
        if (loaded<void>(name) == nullptr) return;
    roster.add<LoadedBarrier>({"loaded", "peer"}, ranks);
}

}  // namespace tollbar::bench
