// SPDX-License-Identifier: Apache-2.0
// Visits the steps of all members in one order that a run can have. Awaits name their sender, so every run has
// the same order of events, and what is found out along one order holds for all.
#pragma once

#include "matching.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace tollbar {

/// `to` awaits `from`, which cannot get so far; by their numbers in a matching.
struct Stuck {
    Rank from;
    Rank to;
};

/// Calls visitor.signal(member, step) for each signal, and visitor.await_set(member, begin, end) for each set of
/// neighbouring awaits, once all its signals were visited; steps are places in matching.steps. Each member's steps
/// come in program order. Returns the first stuck pair in the order of `to`, then `from`, if there is one.
/// Needs a matching without fault.
template <class Visitor>
std::optional<Stuck> replay(const Matching& matching, Visitor&& visitor) {
    constexpr Index nothing = std::numeric_limits<Index>::max();
    std::vector<bool> sent(matching.messages);
    std::vector<Index> next(matching.first.begin(), matching.first.end() - 1);  // of each member, the step it stands at
    std::vector<Index> set_begin = next;                                        // and the await set that step lies in
    std::vector<Index> blocked_on(matching.members, nothing);                   // of each member, a message
    std::vector<Rank> ready, woken;

    const auto run = [&](Rank self) {
        Index step = next[self];
        const Index end = matching.first[self + 1];
        while (step < end) {
            if (is_signal(matching.steps[step])) {
                const Index message = matching.message[step];
                const Rank to = matching.steps[step].peer;
                visitor.signal(self, step);
                sent[message] = true;
                if (blocked_on[to] == message) woken.push_back(to);
                set_begin[self] = ++step;
                continue;
            }
            while (step < end && is_await(matching.steps[step]) && sent[matching.message[step]]) ++step;
            if (step < end && is_await(matching.steps[step])) {
                blocked_on[self] = matching.message[step];
                break;
            }
            visitor.await_set(self, set_begin[self], step);
        }
        next[self] = step;
    };

    for (Rank self = 0; self < matching.members; ++self) ready.push_back(self);
    for (; !ready.empty(); ready.swap(woken), woken.clear())
        for (const Rank self : ready) run(self);

    for (Rank self = 0; self < matching.members; ++self) {
        if (next[self] == matching.first[self + 1]) continue;
        Stuck stuck{.from = matching.members, .to = self};
        const Index set_end = matching.set_end(next[self], self);
        for (Index step = set_begin[self]; step < set_end; ++step)
            if (!sent[matching.message[step]]) stuck.from = std::min(stuck.from, matching.steps[step].peer);
        return stuck;
    }
    return std::nullopt;
}

}  // namespace tollbar
