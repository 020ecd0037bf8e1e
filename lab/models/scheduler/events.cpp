// SPDX-License-Identifier: Apache-2.0
#include "events.hpp"

#include "models/checks.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace tollbar::scheduler {

namespace {

using Events = std::vector<std::vector<Event>>;
using Kind = Event::Kind;

std::string thread_text(std::size_t thread) { return "thread " + std::to_string(thread); }

void check_one(const Events& events, std::size_t thread, std::size_t number, const std::string& name) {
    const Event& event = events[thread][number];
    const std::string who = thread_text(thread);
    if (event.kind == Kind::compute) models::check_time(event.us, name + "a computing time of " + who);
    if (event.kind != Kind::send && event.kind != Kind::receive) return;
    const std::string does = event.kind == Kind::send ? " sends to " : " receives from ";
    if (event.thread == thread) throw std::invalid_argument(name + who + does + "itself");
    if (event.thread >= events.size())
        throw std::invalid_argument(name + who + does + thread_text(event.thread) + "; there are 0.." +
                                    std::to_string(events.size() - 1));
}

/// Runs the events without times, so that a program that would wait for ever is refused before.
void replay(const Events& events, const std::string& name) {
    std::vector<std::size_t> next(events.size());
    Messages messages;
    const auto at = [&](std::size_t thread) { return events[thread][next[thread]]; };
    const auto over = [&](std::size_t thread) { return next[thread] == events[thread].size(); };
    const auto goes_on = [&](std::uint32_t thread) {
        const std::size_t before = next[thread];
        for (; !over(thread) && at(thread).kind != Kind::barrier; ++next[thread]) {
            const auto [kind, us, other] = at(thread);
            if (kind == Kind::send) messages.send(thread, other);
            if (kind != Kind::receive) continue;
            if (!messages.has(other, thread)) break;
            messages.receive(other, thread);
        }
        return next[thread] != before;
    };
    const auto threads = static_cast<std::uint32_t>(events.size());
    while (!over(0)) {
        bool moved = false;
        for (std::uint32_t thread = 0; thread < threads; ++thread) moved |= goes_on(thread);
        std::uint32_t stuck = 0;
        while (stuck < threads && at(stuck).kind == Kind::barrier) ++stuck;
        if (stuck == threads)
            for (std::size_t& each : next) ++each;
        else if (!moved)
            throw std::invalid_argument(name + "nobody can go on: " + thread_text(stuck) +
                                        " waits for ever to receive from " + thread_text(at(stuck).thread) +
                                        ", as its event " + std::to_string(next[stuck]));
    }
    if (const auto left = messages.left())
        throw std::invalid_argument(name + thread_text(left->second) + " does not receive all that " +
                                    thread_text(left->first) + " sends to it");
}

}  // namespace

std::uint64_t check_events(const Events& events, const std::string& name) {
    const auto barriers = [&](std::size_t thread) {
        return std::ranges::count(events[thread], Kind::barrier, &Event::kind);
    };
    for (std::size_t thread = 0; thread < events.size(); ++thread) {
        for (std::size_t number = 0; number < events[thread].size(); ++number) check_one(events, thread, number, name);
        if (events[thread].empty() || events[thread].back().kind != Kind::barrier)
            throw std::invalid_argument(name + "the last event of " + thread_text(thread) + " is no barrier");
        if (barriers(thread) != barriers(0))
            throw std::invalid_argument(name + thread_text(thread) + " has " + std::to_string(barriers(thread)) +
                                        " barriers, thread 0 " + std::to_string(barriers(0)) +
                                        "; at a barrier all threads meet equally often");
    }
    replay(events, name);
    return static_cast<std::uint64_t>(barriers(0));
}

}  // namespace tollbar::scheduler
