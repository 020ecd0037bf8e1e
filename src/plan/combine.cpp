// SPDX-License-Identifier: Apache-2.0
// Two plans make one: groups gather, their turning members run the outer plan, groups release.
#include "grouping.hpp"
#include "wording.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

namespace tollbar {

using namespace detail;

namespace {

/// A row of groups of one size, which have the same inner plan.
struct Row {
    Rank first_group;
    Rank first_role;  ///< of the whole plan
    Plan inner;
    Rank turning;  ///< member of the inner plan that runs the outer one in between
};

Plan group_plan(const Family& inner, Rank members) {
    Plan plan = inner(members);
    if (plan.ranks() != members)
        throw std::invalid_argument(
            worded({"a group of ", members, " ranks was given '", plan.name(), "' for ", plan.ranks(), " ranks"}));
    return plan;
}

/// A plan of two levels, whose programs are made from those of the inner plans and of the outer one.
class TwoLevels {
public:
    using Turning = Rank (*)(const Plan& inner);

    TwoLevels(Grouping grouping, const Family& inner, Turning turning, Plan outer)
        : grouping_(std::move(grouping)), outer_(std::move(outer)) {
        std::map<Rank, Plan> of_size;
        for (Rank group = 0, end = 0; group < grouping_.groups(); group = end) {
            end = grouping_.alike_until(group);
            const Rank size = grouping_.size(group);
            if (!of_size.contains(size)) of_size.emplace(size, group_plan(inner, size));
            const Plan& plan = of_size.at(size);
            rows_.push_back({group, inner_roles_, plan, turning(plan)});
            inner_roles_ += (end - group) * plan.roles();
        }
    }

    Rank roles() const noexcept { return inner_roles_ + outer_.roles(); }

    Program program(Rank self) const {
        if (is_role(self) && role_number(self) >= inner_roles_)
            return of_whole(outer_.program(role(role_number(self) - inner_roles_)));
        const auto [row, group, member] = seen_inside(self);
        Program program = row->inner.program(member);
        for (Step& step : program) step.peer = in_whole(*row, group, step.peer);
        if (member == row->turning) {
            const Program between = of_whole(outer_.program(group));
            program.insert(std::ranges::find_if(program, is_signal), between.begin(), between.end());
        }
        return program;
    }

private:
    struct Inside {
        const Row* row;
        Rank group;
        Rank member;  ///< of the inner plan
    };

    /// A rank of the whole, or a role of an inner plan, as its group sees it.
    Inside seen_inside(Rank self) const {
        if (!is_role(self)) {
            const auto [group, index] = grouping_.index_of(self);
            return {&row_of(group), group, index};
        }
        const Rank number = role_number(self);
        const Row& row = *std::prev(std::ranges::upper_bound(rows_, number, {}, &Row::first_role));
        const Rank within = number - row.first_role, each = row.inner.roles();
        return {&row, row.first_group + within / each, role(within % each)};
    }

    const Row& row_of(Rank group) const {
        return *std::prev(std::ranges::upper_bound(rows_, group, {}, &Row::first_group));
    }

    /// From a member of a group's plan to one of the whole.
    Rank in_whole(const Row& row, Rank group, Rank member) const {
        if (!is_role(member)) return grouping_.rank_at(group, member);
        return role(row.first_role + (group - row.first_group) * row.inner.roles() + role_number(member));
    }

    /// The word of a member of the outer plan, whose ranks are the turning members.
    Program of_whole(Program outer) const {
        for (Step& step : outer) {
            if (is_role(step.peer)) {
                step.peer = role(inner_roles_ + role_number(step.peer));
            } else {
                const Row& row = row_of(step.peer);
                step.peer = in_whole(row, step.peer, row.turning);
            }
        }
        return outer;
    }

    Grouping grouping_;
    Plan outer_;
    std::vector<Row> rows_;
    Rank inner_roles_ = 0;
};

Plan join(std::string name, const Grouping& grouping, const Family& inner, TwoLevels::Turning turning,
          const Plan& outer) {
    auto levels = std::make_shared<const TwoLevels>(grouping, inner, turning, outer);
    const Rank roles = levels->roles();
    return {std::move(name), grouping.ranks(), [levels](Rank self) { return levels->program(self); }, roles};
}

Rank turning_or_refused(const Plan& inner) {
    if (const std::optional<Rank> turning = turning_member(inner)) return *turning;
    throw std::invalid_argument(worded({"'", inner.name(), "' cannot stand inside a group of ", inner.ranks(),
                                        ": its rank 0 does not hear from every rank before it releases any"}));
}

}  // namespace

Plan combine(Rank ranks, const Family& inner, Rank group, const Plan& outer) {
    const Grouping grouping = Grouping::neighbours(ranks, group);
    if (outer.ranks() != grouping.groups())
        throw std::invalid_argument(worded({ranks, " ranks in groups of ", group, " need an outer plan of ",
                                            grouping.groups(), " ranks, not ", outer.ranks()}));
    std::string name = worded({group_plan(inner, grouping.size(0)).name(), "@", group, "/", outer.name()});
    return join(std::move(name), grouping, inner, turning_or_refused, outer);
}

Plan detail::combine_turning(std::string name, const Grouping& grouping, const Family& inner, const Plan& outer) {
    return join(
        std::move(name), grouping, inner, [](const Plan& plan) { return plan.roles() == 0 ? 0 : role(0); }, outer);
}

}  // namespace tollbar
