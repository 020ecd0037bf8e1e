// SPDX-License-Identifier: Apache-2.0
// A plan compiled for analysis: the steps of all members in one array, and for each step the message it sends or takes.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/verify.hpp>

#include <cstdint>
#include <vector>

namespace tollbar {

/// The place of a step in Matching::steps, and the number of a message.
using Index = std::uint32_t;

/// Members have the numbers of Plan::index_of, the ranks first and then the roles; so have the peers of steps. Messages
/// are numbered in the order of their awaits. The signal and the await of a channel carry the same number, so `message`
/// joins both ends; it means nothing where `fault` is not none.
struct Matching {
    Rank ranks = 0;
    Rank members = 0;
    std::vector<Index> first;  ///< members + 1 of them: steps of m stand at first[m] .. first[m + 1] - 1
    std::vector<Step> steps;
    std::vector<Index> message;  ///< of each step
    Index messages = 0;
    std::vector<bool> together;  ///< of each step of a role: it leaves with the signal before it

    /// What can be told without a run: bad_peer, channel_twice, unawaited, unsignalled, unplayed; the earliest of these
    /// kinds, and of that kind the first pair in the order of `to`, then `from`.
    Verdict fault;

    /// A role ends with releases of all it has to release, by one store or one broadcast: whether the step is one of
    /// these, and not the first.
    bool leaves_with_former(Rank self, Index step) const noexcept {
        return self >= ranks && together[step - first[ranks]];
    }

    /// One past the last await of the set that starts at `step`.
    Index set_end(Index step, Rank self) const noexcept {
        while (step < first[self + 1] && is_await(steps[step])) ++step;
        return step;
    }
};

/// Who may play a role, which is numbered as in the matching: the members that its word awaits first, that await it
/// right after they told it, and that it signals last; ascending.
std::vector<Rank> members_of(const Matching& matching, Rank role);

/// Throws std::invalid_argument for a plan of 2^32 steps or more.
Matching match(const Plan& plan);

}  // namespace tollbar
