// SPDX-License-Identifier: Apache-2.0
// The cost of a barrier in a loop of nothing but barriers: the episodes overlap, so it may be less than one alone.
#include <tollbar/models/logp.hpp>

#include "analysis/evaluate.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace tollbar {

using namespace detail;

namespace {

/// A loop is evaluated in one piece; one of this many steps takes about 1.5 GB.
constexpr std::size_t max_steps = std::size_t{1} << 26;

/// The plan `times` times in a row, every episode with messages of its own. Awaits that end one episode and
/// awaits that begin the next are neighbours and so make one set.
Matching repeated(const Matching& once, Index times) {
    Matching loop;
    loop.ranks = once.ranks;
    loop.members = once.members;
    loop.first.reserve(once.first.size());
    loop.steps.reserve(once.steps.size() * times);
    loop.message.reserve(once.steps.size() * times);
    loop.first.push_back(0);
    for (Rank self = 0; self < once.members; ++self) {
        const auto begin = once.first[self];
        const auto end = once.first[self + 1];
        for (Index episode = 0; episode < times; ++episode)
            for (Index step = begin; step < end; ++step) {
                loop.steps.push_back(once.steps[step]);
                loop.message.push_back(once.message[step] + episode * once.messages);
                if (self >= once.ranks) loop.together.push_back(once.leaves_with_former(self, step));
            }
        loop.first.push_back(static_cast<Index>(loop.steps.size()));
    }
    loop.messages = once.messages * times;
    return loop;
}

double last_us(const Matching& matching, const LogP& logp, Receive receive) {
    const auto left_us = evaluate(matching, logp, receive, std::vector<double>(matching.members)).completion_us;
    return *std::max_element(left_us.begin(), left_us.begin() + matching.ranks);
}

}  // namespace

double loop_period_us(const Plan& plan, const LogP& logp, Receive receive) {
    price(plan, logp, receive);  // refuses what has no price
    const Matching once = match(plan);
    // Enough for the period to settle; fewer where each of them is long to evaluate.
    const Index episodes = plan.ranks() <= 64 ? 12 : 8;
    if (once.steps.size() > max_steps / episodes)
        throw std::invalid_argument("'" + plan.name() + "' has " + std::to_string(once.steps.size()) +
                                    " steps; a loop of " + std::to_string(episodes) + " episodes is evaluated up to " +
                                    std::to_string(max_steps / episodes));
    const Index half = episodes / 2;
    const double all_us = last_us(repeated(once, episodes), logp, receive);
    return (all_us - last_us(repeated(once, half), logp, receive)) / (episodes - half);
}

}  // namespace tollbar
