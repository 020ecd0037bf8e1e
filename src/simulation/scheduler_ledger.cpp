// SPDX-License-Identifier: Apache-2.0
#include "scheduler_ledger.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace tollbar::scheduler {

namespace {

Nanoseconds clamped(double us) { return us > 9e15 ? never : std::llround(us * 1000); }

}  // namespace

Ledger::Ledger(std::uint32_t processors, std::size_t applications, const Window& window)
    : lanes_(processors), computing_(applications), spinning_(applications), most_spans_(window.most_spans) {
    if (!(window.from_us >= 0 && window.until_us >= window.from_us))
        throw std::invalid_argument("the picture's window begins at 0 us or later and does not end before it begins");
    from_ = clamped(window.from_us);
    until_ = clamped(window.until_us);
}

void Ledger::close(std::uint32_t processor, Nanoseconds now) {
    Lane& lane = lanes_[processor];
    const Nanoseconds since = std::exchange(lane.since, now);
    if (since == now) return;
    const State& state = lane.state;
    sums_[static_cast<std::size_t>(state.activity)] += now - since;
    if (state.activity == Activity::computing) computing_[state.application] += now - since;
    if (state.activity == Activity::spinning) spinning_[state.application] += now - since;
    if (since >= until_ || now <= from_) return;
    if (history_.size() == most_spans_) {
        cut_ = true;
        return;
    }
    history_.push_back({.processor = processor,
                        .activity = state.activity,
                        .application = state.application,
                        .thread = state.thread,
                        .from_us = to_us(std::max(since, from_)),
                        .until_us = to_us(std::min(now, until_))});
}

void Ledger::settle(Nanoseconds now, Outcome& outcome) {
    for (std::uint32_t processor = 0; processor < lanes_.size(); ++processor) close(processor, now);
    outcome.idle_us = to_us(sums_[0]);
    outcome.switching_us = to_us(sums_[1]);
    outcome.computing_us = to_us(sums_[2]);
    outcome.spinning_us = to_us(sums_[3]);
    for (std::size_t number = 0; number < outcome.applications.size(); ++number) {
        outcome.applications[number].computing_us = to_us(computing_[number]);
        outcome.applications[number].spinning_us = to_us(spinning_[number]);
    }
    std::ranges::sort(history_, {}, [](const Span& span) { return std::tuple(span.processor, span.from_us); });
    outcome.history = std::move(history_);
    outcome.history_cut = cut_;
}

}  // namespace tollbar::scheduler
