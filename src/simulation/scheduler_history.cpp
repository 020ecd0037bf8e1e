// SPDX-License-Identifier: Apache-2.0
// What every processor does since when: the sums of it, and the history for a picture.
#include "scheduler_simulation.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace tollbar::scheduler {

void Simulation::note(std::uint32_t number, Activity activity) {
    Processor& processor = processors_[number];
    State state{.activity = activity};
    if (processor.thread) {
        state.application = threads_[*processor.thread].job;
        state.thread = threads_[*processor.thread].number;
    }
    if (state == processor.state) return;
    end_stretch(number);
    processor.state = state;
}

void Simulation::end_stretch(std::uint32_t number) {
    const State& state = processors_[number].state;
    const Nanoseconds since = std::exchange(processors_[number].since, now_);
    spent_[state.application][static_cast<std::size_t>(state.activity)] += now_ - since;
    const double from_us = std::max(to_us(since), window_.from_us), until_us = std::min(to_us(now_), window_.until_us);
    if (since == now_ || from_us >= until_us) return;
    if (outcome_.history.size() == window_.most_spans) {
        outcome_.history_cut = true;
        return;
    }
    outcome_.history.push_back({.processor = number,
                                .activity = state.activity,
                                .application = state.application,
                                .thread = state.thread,
                                .from_us = from_us,
                                .until_us = until_us});
}

void Simulation::sum_up() {
    for (std::uint32_t number = 0; number < processors_.size(); ++number) end_stretch(number);
    Spent all{};
    for (std::size_t job = 0; job < spent_.size(); ++job) {
        const auto [idle, switching, computing, spinning] = spent_[job];
        outcome_.applications[job].computing_us = to_us(computing);
        outcome_.applications[job].spinning_us = to_us(spinning);
        std::ranges::transform(all, spent_[job], all.begin(), std::plus{});
    }
    const auto [idle, switching, computing, spinning] = all;
    outcome_.idle_us = to_us(idle);
    outcome_.switching_us = to_us(switching);
    outcome_.computing_us = to_us(computing);
    outcome_.spinning_us = to_us(spinning);
    std::ranges::sort(outcome_.history, {}, [](const Span& span) { return std::tuple(span.processor, span.from_us); });
}

}  // namespace tollbar::scheduler
