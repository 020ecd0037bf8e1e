// SPDX-License-Identifier: Apache-2.0
// Plans as GOAL, the input of LogGOPSim (Hoefler, Schneider, Lumsdaine 2010).
#include "draw.hpp"

#include "matching.hpp"

#include <stdexcept>
#include <string>

namespace tollbar::detail {

namespace {

/// The tag of each message: the position of its signal in the sender's program.
std::vector<Index> tags_of(const Matching& matching) {
    std::vector<Index> tags(matching.messages);
    for (Rank self = 0; self < matching.members; ++self)
        for (Index step = matching.first[self]; step < matching.first[self + 1]; ++step)
            if (is_signal(matching.steps[step])) tags[matching.message[step]] = step - matching.first[self];
    return tags;
}

std::string label(Index position) { return 'l' + std::to_string(position + 1); }

}  // namespace

std::string to_goal(const Plan& plan) {
    const Matching matching = match(plan);
    if (!matching.fault.holds())
        throw std::invalid_argument("plan '" + plan.name() + "' has no GOAL: " + matching.fault.explain());
    const std::vector<Index> tags = tags_of(matching);

    std::string goal = "num_ranks " + std::to_string(plan.members()) + '\n';
    for (Rank self = 0; self < matching.members; ++self) {
        const Index first = matching.first[self];
        goal += "\nrank " + std::to_string(self) + " {\n";
        for (Index before = first, begin = first; begin < matching.first[self + 1];) {
            const Index end = is_signal(matching.steps[begin]) ? begin + 1 : matching.set_end(begin, self);
            for (Index step = begin; step < end; ++step)
                goal += label(step - first) + (is_signal(matching.steps[step]) ? ": send 1b to " : ": recv 1b from ") +
                        std::to_string(matching.steps[step].peer) + " tag " +
                        std::to_string(tags[matching.message[step]]) + '\n';
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

}  // namespace tollbar::detail
