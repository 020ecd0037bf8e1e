// SPDX-License-Identifier: Apache-2.0
// Visits the steps of all members in one order that a run can have. Awaits name their sender, so every run has
// the same order of events, and what is found out along one order holds for all.
#pragma once

#include "matching.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace tollbar::detail {

/// `to` awaits `from`, which cannot get so far; by their numbers in a matching.
struct Stuck {
    Rank from;
    Rank to;
};

/// Calls visitor.signal(member, step) for each signal, and visitor.await_set(member, begin, end) for each set of
/// neighbouring awaits, once all its signals were visited; steps are indices into matching.steps. Each member's steps
/// come in program order. Returns the first stuck pair in the order of `to`, then `from`, if there is one.
/// Needs a matching without fault.
template <class Visitor>
std::optional<Stuck> replay(const Matching& matching, Visitor&& visitor) {
    Cursor cursor(matching);
    cursor.enter_all();
    std::vector<Index> blocked_on(matching.members, std::numeric_limits<Index>::max());  // of each member, a message
    std::vector<Rank> ready, woken;

    const auto set_begin = [&](Rank self) {
        Index step = cursor.next(self);
        while (step > matching.first[self] && is_await(matching.steps[step - 1])) --step;
        return step;
    };
    const auto run = [&](Rank self) {
        while (!cursor.finished(self)) {
            const Index step = cursor.next(self);
            if (cursor.is_at_await(self)) {
                if (!cursor.pass_awaits(self)) {
                    blocked_on[self] = matching.message[cursor.next(self)];
                    return;
                }
                visitor.await_set(self, set_begin(self), cursor.next(self));
            } else {
                const auto [message, to] = std::pair(matching.message[step], matching.steps[step].peer);
                visitor.signal(self, step);
                cursor.come(message);
                cursor.go_on(self);
                if (blocked_on[to] == message) woken.push_back(to);
            }
        }
    };

    for (Rank self = 0; self < matching.members; ++self) ready.push_back(self);
    for (; !ready.empty(); ready.swap(woken), woken.clear())
        for (const Rank self : ready) run(self);

    for (Rank self = 0; self < matching.members; ++self) {
        if (cursor.finished(self)) continue;
        Stuck stuck{.from = matching.members, .to = self};
        const Index set_end = matching.set_end(cursor.next(self), self);
        for (Index step = set_begin(self); step < set_end; ++step)
            if (!cursor.met(self, step)) stuck.from = std::min(stuck.from, matching.steps[step].peer);
        return stuck;
    }
    return std::nullopt;
}

}  // namespace tollbar::detail
