// SPDX-License-Identifier: Apache-2.0
// The schedule of ranks that share memory within a larger plan: the ranks of one node of a communicator, or the threads
// of one rank.
#pragma once

#include "composite.hpp"

#include "plan/schedule.hpp"
#include "transports/words/layout.hpp"

#include <span>
#include <vector>

namespace tollbar::detail::mpi {

/// The steps of the ranks here, which share words with each other. The first member of a role plays it. A step with
/// both ends here goes by a word, any other one by a message, or all of those together are left to a barrier that runs
/// elsewhere.
///
///     LocalSchedule schedule(plan, Player::first, {4, 5, 6});
///     Segment segment({.layout = schedule.layout(), ...});
///     std::vector<Composite::Step> steps = schedule.steps(5, segment.steps(1), &messages, nullptr);
class LocalSchedule {
public:
    /// `here` is ascending. With Player::last the players of all roles must be here.
    LocalSchedule(const Plan& plan, Player player, std::vector<Rank> here);
    LocalSchedule(const LocalSchedule&) = delete;
    LocalSchedule& operator=(const LocalSchedule&) = delete;

    /// The steps of the ranks here at words, in the order of `here`.
    Layout layout(RolesAre roles = RolesAre::groups);

    /// All steps of rank `self`; `words` are the steps of its part of the layout. With `outer`, the steps that are not
    /// here are one arrival there and its end. Without `messages` there may be no other steps. Throws std::system_error
    /// when the MPI gives no channel.
    std::vector<Composite::Step> steps(Rank self, std::span<const WordStep<NativeSync>> words, Messages* messages,
                                       const OuterBarrier* outer);

private:
    bool is_here(Rank rank) const;

    std::vector<Rank> here_;
    Lowering lowering_;
};

}  // namespace tollbar::detail::mpi
