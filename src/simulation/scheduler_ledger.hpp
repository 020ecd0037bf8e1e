// SPDX-License-Identifier: Apache-2.0
// The simulator's books: what every processor does since when, sums of it, and the history for a picture.
#pragma once

#include "scheduler_jobs.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace tollbar::scheduler {

/// What a processor does, for whom.
struct State {
    Activity activity = Activity::idle;
    std::uint32_t application = 0;
    std::uint32_t thread = 0;

    bool operator==(const State&) const = default;
};

class Ledger {
public:
    Ledger(std::uint32_t processors, std::size_t applications, const Window& window);

    /// The processor does something else from `now` on; nothing happens when it is the same.
    void set(std::uint32_t processor, const State& state, Nanoseconds now) {
        Lane& lane = lanes_[processor];
        if (lane.state == state) return;
        close(processor, now);
        lane.state = state;
    }

    const State& state(std::uint32_t processor) const { return lanes_[processor].state; }

    /// Closes all books and fills in sums and history.
    void settle(Nanoseconds now, Outcome& outcome);

private:
    struct Lane {
        State state;
        Nanoseconds since = 0;
    };

    void close(std::uint32_t processor, Nanoseconds now);

    std::vector<Lane> lanes_;
    std::array<Nanoseconds, 4> sums_{};              // in the order of Activity
    std::vector<Nanoseconds> computing_, spinning_;  // of each application
    Nanoseconds from_, until_;
    std::size_t most_spans_;
    std::vector<Span> history_;
    bool cut_ = false;
};

}  // namespace tollbar::scheduler
