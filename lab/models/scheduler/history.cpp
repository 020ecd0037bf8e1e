// SPDX-License-Identifier: Apache-2.0
#include "history.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace tollbar::scheduler {

namespace {

double of(const std::array<Nanoseconds, activities>& spent, Activity activity) {
    return to_us(spent[static_cast<std::size_t>(activity)]);
}

}  // namespace

History::History(const Window& window, std::size_t processors, std::size_t applications)
    : window_(window), stretches_(processors), spent_(applications) {
    if (!(window.from_us >= 0 && window.until_us >= window.from_us))
        throw std::invalid_argument("the picture's window begins at 0 us or later and does not end before it begins");
}

void History::note(std::uint32_t processor, const State& state, Nanoseconds now) {
    if (state == stretches_[processor].state) return;
    end(processor, now);
    stretches_[processor].state = state;
}

void History::end(std::uint32_t processor, Nanoseconds now) {
    const State& state = stretches_[processor].state;
    const Nanoseconds since = std::exchange(stretches_[processor].since, now);
    spent_[state.application][static_cast<std::size_t>(state.activity)] += now - since;
    const double from_us = std::max(to_us(since), window_.from_us), until_us = std::min(to_us(now), window_.until_us);
    if (since == now || from_us >= until_us) return;
    if (spans_.size() == window_.most_spans) {
        cut_ = true;
        return;
    }
    spans_.push_back({.processor = processor,
                      .activity = state.activity,
                      .application = state.application,
                      .thread = state.thread,
                      .from_us = from_us,
                      .until_us = until_us});
}

void History::sum_up(Outcome& outcome, Nanoseconds now) {
    for (std::uint32_t processor = 0; processor < stretches_.size(); ++processor) end(processor, now);
    Spent all{};
    for (const Spent& spent : spent_) std::ranges::transform(all, spent, all.begin(), std::plus{});
    for (std::size_t number = 0; number < outcome.applications.size(); ++number) {
        outcome.applications[number].computing_us = of(spent_[number], Activity::computing);
        outcome.applications[number].spinning_us = of(spent_[number], Activity::spinning);
    }
    outcome.idle_us = of(all, Activity::idle);
    outcome.switching_us = of(all, Activity::switching);
    outcome.computing_us = of(all, Activity::computing);
    outcome.spinning_us = of(all, Activity::spinning);
    outcome.waking_us = of(all, Activity::waking);
    outcome.neighbours_us = of(all, Activity::neighbour);
    std::ranges::sort(spans_, {}, [](const Span& span) { return std::tuple(span.processor, span.from_us); });
    outcome.history = std::move(spans_);
    outcome.history_cut = cut_;
}

}  // namespace tollbar::scheduler
