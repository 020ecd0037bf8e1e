// SPDX-License-Identifier: Apache-2.0
// The activity of every processor, and since when: the sums of it, and the history for a picture.
#pragma once

#include "jobs.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tollbar::scheduler {

/// An activity of a processor and its thread.
struct State {
    Activity activity = Activity::idle;
    std::uint32_t application = 0;
    std::uint32_t thread = 0;

    bool operator==(const State&) const = default;
};

class History {
public:
    /// Every processor is idle at first.
    History(const Window& window, std::size_t processors, std::size_t applications);

    /// The processor changes to that state, unless it is in it.
    void note(std::uint32_t processor, const State& state, Nanoseconds now);

    /// Ends everything and tells the outcome, whose applications are there already.
    void sum_up(Outcome& outcome, Nanoseconds now);

private:
    struct Stretch {
        State state{};
        Nanoseconds since = 0;
    };

    using Spent = std::array<Nanoseconds, activities>;  // in the order of Activity

    void end(std::uint32_t processor, Nanoseconds now);

    const Window window_;
    std::vector<Stretch> stretches_;  // of each processor, the one that it is in
    std::vector<Spent> spent_;        // by each application
    std::vector<Span> spans_;
    bool cut_ = false;
};

}  // namespace tollbar::scheduler
