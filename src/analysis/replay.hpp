// SPDX-License-Identifier: Apache-2.0
// Visits the steps of all ranks in one order that a run can have. Awaits name their sender, so every run has
// the same order of events, and what is found out along one order holds for all.
#pragma once

#include "wiring.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace tollbar {

/// `to` awaits `from`, which cannot get so far.
struct Stuck {
    Rank from;
    Rank to;
};

/// Calls visitor.signal(rank, step) for each signal, and visitor.await_set(rank, begin, end) for each set of
/// neighbouring awaits, once all its signals were visited; steps are places in wiring.steps. Each rank's steps
/// come in program order. Returns the first stuck pair in the order of `to`, then `from`, if there is one.
/// Needs a wiring without fault.
template <class Visitor>
std::optional<Stuck> replay(const Wiring& wiring, Visitor&& visitor) {
    constexpr Index nothing = std::numeric_limits<Index>::max();
    std::vector<bool> sent(wiring.messages);
    std::vector<Index> next(wiring.first.begin(), wiring.first.end() - 1);  // of each rank, the step it stands at
    std::vector<Index> set_begin = next;                                    // and the await set that step lies in
    std::vector<Index> blocked_on(wiring.ranks, nothing);                   // of each rank, a message
    std::vector<Rank> ready, woken;

    const auto run = [&](Rank self) {
        Index step = next[self];
        const Index end = wiring.first[self + 1];
        while (step < end) {
            if (is_signal(wiring.steps[step])) {
                const Index message = wiring.message[step];
                const Rank to = wiring.steps[step].peer;
                visitor.signal(self, step);
                sent[message] = true;
                if (blocked_on[to] == message) woken.push_back(to);
                set_begin[self] = ++step;
                continue;
            }
            while (step < end && is_await(wiring.steps[step]) && sent[wiring.message[step]]) ++step;
            if (step < end && is_await(wiring.steps[step])) {
                blocked_on[self] = wiring.message[step];
                break;
            }
            visitor.await_set(self, set_begin[self], step);
        }
        next[self] = step;
    };

    for (Rank self = 0; self < wiring.ranks; ++self) ready.push_back(self);
    for (; !ready.empty(); ready.swap(woken), woken.clear())
        for (const Rank self : ready) run(self);

    for (Rank self = 0; self < wiring.ranks; ++self) {
        if (next[self] == wiring.first[self + 1]) continue;
        Stuck stuck{.from = wiring.ranks, .to = self};
        const Index set_end = wiring.set_end(next[self], self);
        for (Index step = set_begin[self]; step < set_end; ++step)
            if (!sent[wiring.message[step]]) stuck.from = std::min(stuck.from, wiring.steps[step].peer);
        return stuck;
    }
    return std::nullopt;
}

}  // namespace tollbar
