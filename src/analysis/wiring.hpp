// SPDX-License-Identifier: Apache-2.0
// A plan compiled for analysis: the steps of all ranks in one array, and for each step the message it sends or takes.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/verify.hpp>

#include <cstdint>
#include <vector>

namespace tollbar {

/// The place of a step in Wiring::steps, and the number of a message.
using Index = std::uint32_t;

/// Messages are numbered in the order of their awaits. The signal and the await of a channel carry the same
/// number, so `message` joins both ends; it means nothing where `fault` is not none.
struct Wiring {
    Rank ranks = 0;
    std::vector<Index> first;  ///< ranks + 1 of them: steps of r stand at first[r] .. first[r + 1] - 1
    std::vector<Step> steps;
    std::vector<Index> message;  ///< of each step
    Index messages = 0;

    /// What can be told without a run: bad_peer, channel_twice, unawaited, unsignalled; the earliest of these
    /// kinds, and of that kind the first pair in the order of `to`, then `from`.
    Verdict fault;

    /// One past the last await of the set that starts at `step`.
    Index set_end(Index step, Rank self) const noexcept {
        while (step < first[self + 1] && is_await(steps[step])) ++step;
        return step;
    }
};

/// Throws std::invalid_argument for a plan of 2^32 steps or more.
Wiring wire(const Plan& plan);

}  // namespace tollbar
