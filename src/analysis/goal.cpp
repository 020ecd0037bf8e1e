// SPDX-License-Identifier: Apache-2.0
// Plans as GOAL, the input of LogGOPSim (Hoefler, Schneider, Lumsdaine 2010).
#include <tollbar/draw.hpp>

#include "wiring.hpp"

#include <stdexcept>
#include <string>

namespace tollbar {

namespace {

/// The tag of each message: the place of its signal in the sender's program, which the receiver is told here.
std::vector<Index> tags_of(const Wiring& wiring) {
    std::vector<Index> tags(wiring.messages);
    for (Rank self = 0; self < wiring.ranks; ++self)
        for (Index step = wiring.first[self]; step < wiring.first[self + 1]; ++step)
            if (is_signal(wiring.steps[step])) tags[wiring.message[step]] = step - wiring.first[self];
    return tags;
}

std::string label(Index place) { return 'l' + std::to_string(place + 1); }

}  // namespace

std::string to_goal(const Plan& plan) {
    const Wiring wiring = wire(plan);
    if (!wiring.fault.holds())
        throw std::invalid_argument("plan '" + plan.name() + "' has no GOAL: " + wiring.fault.explain());
    const std::vector<Index> tags = tags_of(wiring);

    std::string goal = "num_ranks " + std::to_string(plan.ranks()) + '\n';
    for (Rank self = 0; self < wiring.ranks; ++self) {
        const Index first = wiring.first[self];
        goal += "\nrank " + std::to_string(self) + " {\n";
        for (Index before = first, begin = first; begin < wiring.first[self + 1];) {
            const Index end = is_signal(wiring.steps[begin]) ? begin + 1 : wiring.set_end(begin, self);
            for (Index step = begin; step < end; ++step)
                goal += label(step - first) + (is_signal(wiring.steps[step]) ? ": send 1b to " : ": recv 1b from ") +
                        std::to_string(wiring.steps[step].peer) + " tag " + std::to_string(tags[wiring.message[step]]) +
                        '\n';
            for (Index step = begin; step < end; ++step)
                for (Index needed = before; needed < begin; ++needed)
                    goal += label(step - first) + " requires " + label(needed - first) + '\n';
            before = begin;
            begin = end;
        }
        goal += "}\n";
    }
    return goal;
}

}  // namespace tollbar
