// SPDX-License-Identifier: Apache-2.0
// Where the steps of a plan are done when some of its ranks share memory: the ranks of one node of a communicator, or
// the threads of one rank.
#pragma once

#include "composite.hpp"

#include "plan/lower.hpp"
#include "transports/words/layout.hpp"

#include <span>
#include <vector>

namespace tollbar::mpi {

/// The steps of the ranks that are here: those that share words with each other. Roles are played where their first
/// members are. A step both of whose ends are here goes by a word, any other one by a message, or all of those together
/// are left to a barrier that runs elsewhere.
///
///     Placing placing(plan, Player::first, {4, 5, 6});
///     Segment segment({.layout = placing.layout(), ...});
///     std::vector<Composite::Step> steps = placing.steps(5, segment.steps(1), &messages, nullptr);
class Placing {
public:
    /// `here` is ascending. With Player::last the players of all roles must be here.
    Placing(const Plan& plan, Player player, std::vector<Rank> here);
    Placing(const Placing&) = delete;
    Placing& operator=(const Placing&) = delete;

    /// What the ranks here do with words, in the order of `here`.
    Layout layout(RolesAre roles = RolesAre::groups);

    /// What rank `self` does; `words` are the steps of its part of the layout. With `outer`, whatever is not here is
    /// one arrival there and its end. Without `messages` nothing else may be left. Throws std::system_error when the
    /// MPI gives no channel.
    std::vector<Composite::Step> steps(Rank self, std::span<const WordStep<NativeSync>> words, Messages* messages,
                                       const OuterBarrier* outer);

private:
    bool is_here(Rank member);
    bool stays_here(const LoweredStep& step);

    Plan plan_;
    std::vector<Rank> here_;
    Lowering lowering_;
};

}  // namespace tollbar::mpi
