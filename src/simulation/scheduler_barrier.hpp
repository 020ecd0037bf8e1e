// SPDX-License-Identifier: Apache-2.0
// A barrier as the simulated threads use it: a plan, whose roles the last thread to arrive plays.
#pragma once

#include "analysis/matching.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tollbar::scheduler {

/// Each thread is a rank and enters episodes 1, 2, ... Flags and counters hold episodes, so they need no reset. A set
/// of awaits is one test, as one word holds the flags of four children.
class Barrier {
public:
    explicit Barrier(const Plan& plan);

    /// The thread has computed and comes to the barrier; a role begins when its last member has told it.
    void enter(Rank self);

    struct Advance {
        bool moved;    ///< others may see something new
        bool through;  ///< the thread may leave
    };

    /// Takes every step that the thread, which has entered, can take at this instant.
    Advance advance(std::uint32_t thread);

    /// Whether advance would find what the thread waits for.
    bool can_advance(std::uint32_t thread) const;

private:
    bool finished(Rank self) const;
    bool heard_all(Rank self) const;
    /// Whether `self` has just arrived at a role that the thread plays and is not through with.
    bool plays_on(Rank self, std::uint32_t thread) const;
    /// Goes on with the word of `self`, the thread or a role that it plays.
    void run(Rank self, std::uint32_t thread);
    void tell(Rank self, std::uint32_t thread);

    Matching matching_;
    std::vector<Episode> told_;           // of each message, the last episode it was signalled for
    std::vector<Episode> entered_;        // of each member, as are the others but counts_
    std::vector<Index> next_;             // the step it stands at
    std::vector<bool> counts_;            // of each step: it is a member's arrival at its role
    std::vector<std::uint64_t> members_;  // of a role: how many may play it
    std::vector<std::uint64_t> arrivals_;
    std::vector<std::uint32_t> player_;  // of a role: the thread that came last
    std::uint64_t steps_ = 0;
};

/// A barrier by its name (scheduler.hpp) for threads that live on processors `home`.
Barrier make_barrier(const std::string& barrier, const std::vector<std::uint32_t>& home);

}  // namespace tollbar::scheduler
