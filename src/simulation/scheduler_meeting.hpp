// SPDX-License-Identifier: Apache-2.0
// A barrier as the simulated threads use it: what a running thread can do at once, and whether a queued one could.
#pragma once

#include "analysis/matching.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tollbar::scheduler {

/// Flags and counters hold episodes, so they only grow and need no reset. Threads enter episodes 1, 2, ...
class Meeting {
public:
    virtual ~Meeting() = default;

    /// The thread has computed and comes to the barrier.
    virtual void enter(std::uint32_t thread) = 0;

    struct Step {
        bool moved;    ///< others may see something new
        bool through;  ///< the thread may leave
    };

    /// Takes every step that the thread, which has entered, can take at this instant.
    virtual Step advance(std::uint32_t thread) = 0;

    /// Whether advance would find what the thread waits for.
    virtual bool can_advance(std::uint32_t thread) const = 0;
};

/// A barrier by its name (scheduler.hpp) for threads that live on processors `home`.
std::unique_ptr<Meeting> make_meeting(const std::string& barrier, const std::vector<std::uint32_t>& home);

}  // namespace tollbar::scheduler
