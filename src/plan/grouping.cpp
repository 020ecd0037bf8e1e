// SPDX-License-Identifier: Apache-2.0
#include "grouping.hpp"

#include "wording.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace tollbar::detail {

Grouping Grouping::neighbours(Rank ranks, Rank size) {
    check_ranks(ranks);
    if (size == 0) throw std::invalid_argument("a group has at least 1 rank, not 0");
    return {Kind::neighbours, ranks, (ranks - 1) / size + 1, size};
}

Grouping Grouping::by_remainder(Rank ranks, Rank groups) {
    check_ranks(ranks);
    if (groups == 0) throw std::invalid_argument("there is at least 1 group, not 0");
    return {Kind::remainder, ranks, std::min(groups, ranks), std::min(groups, ranks)};
}

Grouping Grouping::listed(std::vector<std::vector<Rank>> lists) {
    std::size_t listed = 0;
    for (const std::vector<Rank>& list : lists) listed += list.size();
    check_ranks(static_cast<Rank>(std::min<std::size_t>(listed, std::numeric_limits<Rank>::max())));

    constexpr Rank nowhere = std::numeric_limits<Rank>::max();
    std::vector<Position> index_of(listed, {.group = nowhere, .index = 0});
    for (Rank group = 0; group < lists.size(); ++group) {
        const std::vector<Rank>& list = lists[group];
        if (list.empty()) throw std::invalid_argument(worded({"group ", group, " has no ranks"}));
        if (!std::ranges::is_sorted(list))
            throw std::invalid_argument(worded({"the ranks of group ", group, " are not in ascending order"}));
        for (Rank index = 0; index < list.size(); ++index) {
            if (list[index] >= listed || index_of[list[index]].group != nowhere)
                throw std::invalid_argument(list[index] >= listed
                                                ? worded({"rank ", list[index], " is not one of 0..", listed - 1})
                                                : worded({"rank ", list[index], " is in two groups"}));
            index_of[list[index]] = {.group = group, .index = index};
        }
    }
    const auto groups = static_cast<Rank>(lists.size());
    return {Kind::listed, static_cast<Rank>(listed), groups, 1,
            std::make_shared<const Lists>(Lists{std::move(lists), std::move(index_of)})};
}

Grouping::Position Grouping::index_of(Rank rank) const {
    if (kind_ == Kind::listed) return lists_->index_of[rank];
    const Rank quotient = rank / divisor_, rest = rank % divisor_;
    return kind_ == Kind::neighbours ? Position{quotient, rest} : Position{rest, quotient};
}

Rank Grouping::rank_at(Rank group, Rank index) const {
    if (kind_ == Kind::listed) return lists_->ranks_of[group][index];
    return kind_ == Kind::neighbours ? group * divisor_ + index : index * divisor_ + group;
}

Rank Grouping::size(Rank group) const {
    if (kind_ == Kind::listed) return static_cast<Rank>(lists_->ranks_of[group].size());
    if (kind_ == Kind::remainder) return (ranks_ - group - 1) / divisor_ + 1;
    return std::min(divisor_, ranks_ - group * divisor_);
}

Rank Grouping::alike_until(Rank group) const {
    if (kind_ == Kind::listed) {
        Rank end = group + 1;
        while (end < groups_ && size(end) == size(group)) ++end;
        return end;
    }
    // The first groups are the larger ones.
    if (size(group) == size(groups_ - 1)) return groups_;
    return kind_ == Kind::neighbours ? groups_ - 1 : ranks_ % divisor_;
}

}  // namespace tollbar::detail
