// SPDX-License-Identifier: Apache-2.0
// The members of a role, one of which plays it. No other file decides which members a role has.
#pragma once

#include <tollbar/plan.hpp>

#include <functional>
#include <span>
#include <vector>

namespace tollbar::detail {

/// The program of a role, cut in three: awaits of its members, what its player does in between, and their release.
struct RoleParts {
    std::vector<Rank> members;  ///< in the order in which the program awaits them
    std::vector<Rank> sorted;   ///< the same members in ascending order
    Program between;
};

/// The programs of members, numbered as the caller numbers them, with the roles from `first_role` on.
struct Programs {
    std::function<std::span<const Step>(Rank member)> of;
    Rank first_role = max_ranks;
};

/// Whether a member counts up at a role whose first member is `first`, which itself always does. Other members signal
/// the role and await it by channels.
using MayCount = std::function<bool(Rank first, Rank member)>;

/// Cuts the program of `role`. Its members are those that the program awaits before it signals anybody, that await the
/// role right after they signalled it, and that the program signals after its last await. Ranks among them keep other
/// roles out: a role of ranks stands for where these live, so roles of other nodes signal it by channels. `members` is
/// empty when no member can play the role.
RoleParts parts_of(Rank role, const Programs& programs, const MayCount& may_count = nullptr);

}  // namespace tollbar::detail
