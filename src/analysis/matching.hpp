// SPDX-License-Identifier: Apache-2.0
// A plan compiled for analysis: the steps of all members in one array, and for each step the message it sends or takes.
#pragma once

#include "plan/cursor.hpp"

#include <tollbar/plan.hpp>
#include <tollbar/verify.hpp>

#include <cstdint>
#include <vector>

namespace tollbar::detail {

/// Members have the numbers of Plan::index_of, the ranks first and then the roles; so have the peers of steps. Messages
/// are numbered in the order of their awaits. The signal and the await of a channel carry the same number, so `message`
/// joins both ends; it means nothing where `fault` is not none. A cursor (plan/cursor.hpp) walks it: its cells are the
/// messages.
struct Matching {
    Rank ranks = 0;
    Rank members = 0;
    std::vector<Index> first;  ///< members + 1 of them: steps of m stand at first[m] .. first[m + 1] - 1
    std::vector<Step> steps;
    std::vector<Index> message;  ///< of each step
    Index messages = 0;
    std::vector<bool> together;  ///< of each step of a role: it leaves with the signal before it

    /// The fault that shows without a run: bad_peer, channel_twice, unawaited, unsignalled, unplayed; the earliest of
    /// these kinds, and of that kind the first pair in the order of `to`, then `from`.
    Verdict fault;

    /// A role ends with releases of all it has to release, by one store or one broadcast: whether the step is one of
    /// these, and not the first.
    bool leaves_with_former(Rank self, Index step) const noexcept {
        return self >= ranks && together[step - first[ranks]];
    }

    Index cells() const noexcept { return messages; }
    Index cell(Index step) const { return message[step]; }
    static constexpr std::uint64_t share(Index) noexcept { return 1; }
    bool awaits(Index step) const { return is_await(steps[step]); }

    /// One past the last await of the set that starts at `step`.
    Index set_end(Index step, Rank self) const noexcept {
        while (step < first[self + 1] && is_await(steps[step])) ++step;
        return step;
    }
};

/// Throws std::invalid_argument for a plan of 2^32 steps or more.
Matching match(const Plan& plan);

}  // namespace tollbar::detail
