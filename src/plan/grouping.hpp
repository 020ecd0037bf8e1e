// SPDX-License-Identifier: Apache-2.0
// How ranks are divided into groups: blocks of neighbours, round-robin, or explicit lists; and two-level plans over
// them.
#pragma once

#include <tollbar/plan.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tollbar::detail {

/// Throws std::invalid_argument unless 1 <= ranks <= max_ranks.
void check_ranks(Rank ranks);

/// Groups are numbered from 0, and so are the ranks in each. Arithmetic, but for lists, which cost O(ranks).
class Grouping {
public:
    /// Groups of `size` neighbouring ranks; the last may be smaller. Throws std::invalid_argument for a size of 0.
    static Grouping neighbours(Rank ranks, Rank size);

    /// Rank r is in group r mod `groups`, of which there are at most as many as ranks.
    static Grouping by_remainder(Rank ranks, Rank groups);

    /// Throws std::invalid_argument unless every rank from 0 on is in one list, and each list is ascending, not empty.
    static Grouping listed(std::vector<std::vector<Rank>> lists);

    Rank ranks() const noexcept { return ranks_; }
    Rank groups() const noexcept { return groups_; }

    struct Position {
        Rank group;
        Rank index;
    };
    Position index_of(Rank rank) const;
    Rank rank_at(Rank group, Rank index) const;
    Rank size(Rank group) const;

    /// One past the last group of a row of groups that are as large as this one.
    Rank alike_until(Rank group) const;

private:
    enum class Kind : std::uint8_t { neighbours, remainder, listed };
    struct Lists {
        std::vector<std::vector<Rank>> ranks_of;
        std::vector<Position> index_of;
    };

    Grouping(Kind kind, Rank ranks, Rank groups, Rank divisor, std::shared_ptr<const Lists> lists = nullptr)
        : kind_(kind), ranks_(ranks), groups_(groups), divisor_(divisor), lists_(std::move(lists)) {}

    Kind kind_;
    Rank ranks_;
    Rank groups_;
    Rank divisor_;  ///< a rank over it leaves group and index, or index and group
    std::shared_ptr<const Lists> lists_;
};

/// `combine` (plan.hpp) for families that are known to turn at one member, which is role(0) where there is a role and
/// rank 0 where there is none: reads no inner program before it is asked for, so that one rank's part stays O(log
/// ranks). Roles are numbered group by group, those of `outer` last.
Plan combine_turning(std::string name, const Grouping& grouping, const Family& inner, const Plan& outer);

}  // namespace tollbar::detail
