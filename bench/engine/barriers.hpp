// SPDX-License-Identifier: Apache-2.0
// Barriers that more than one of the programs measures, each made for a number of ranks; and Meeting (crew.hpp).
#pragma once

#include <tollbar/barrier.hpp>
#include <tollbar/participant.hpp>

#include <barrier>
#include <string>
#include <utility>

namespace tollbar::bench {

/// A group of tollbar's, of this process or opened by name.
class GroupBarrier {
public:
    struct Seat {
        participant self;
        void episode() noexcept { self.arrive_and_wait(); }
    };

    GroupBarrier(Rank ranks, const std::string& plan, wait_policy wait, Scope scope = Scope::process)
        : group_(ranks, {.plan = plan, .wait = wait, .scope = scope}) {}
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

}  // namespace tollbar::bench
