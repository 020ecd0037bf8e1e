// SPDX-License-Identifier: Apache-2.0
// Compiled steps send the plan's messages, in the plan's order, and both ends of each know each other.
#include "wire/steps.hpp"

#include "plan/schedule.hpp"
#include "refusal.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

std::vector<std::string> spellings() {
    std::vector<std::string> all;
    for (const Algorithm& algorithm : catalogue()) all.emplace_back(algorithm.name);
    for (const char* more : {"combining:2", "fway_tournament:3", "mcs:2,3", "dissemination:3", "central@4/pairwise",
                             "mcs@3/central@2/dissemination"})
        all.emplace_back(more);
    return all;
}

Program flattened(const std::vector<toll_step>& steps) {
    Program program;
    for (const toll_step& step : steps) {
        if (step.to != TOLLBAR_NOBODY) program.push_back(signal(step.to));
        if (step.from != TOLLBAR_NOBODY) program.push_back(await(step.from));
    }
    return program;
}

std::vector<std::vector<toll_step>> all_steps(const Plan& plan) {
    std::vector<std::vector<toll_step>> all;
    for (Rank self = 0; self < plan.ranks(); ++self) all.push_back(compile_steps(plan, self));
    return all;
}

/// How many ends of messages name a step that does not name them.
int loose_ends(const std::vector<std::vector<toll_step>>& all) {
    int loose = 0;
    for (Rank self = 0; self < all.size(); ++self)
        for (std::size_t i = 0; i < all[self].size(); ++i) {
            const toll_step& step = all[self][i];
            if (step.to != TOLLBAR_NOBODY) {
                const toll_step& there = all[step.to].at(step.to_step);
                loose += there.from != self || there.from_step != i;
            }
            if (step.from != TOLLBAR_NOBODY) {
                const toll_step& there = all[step.from].at(step.from_step);
                loose += there.to != self || there.to_step != i;
            }
        }
    return loose;
}

std::string refused(const char* words) {
    return refusal([&] { compile_steps(parse_plan("written", words), 0); });
}

}  // namespace

TEST_CASE("steps are the plan's words, for every family and size") {
    for (const std::string& spelling : spellings())
        for (Rank ranks = 1; ranks <= 65; ++ranks) {
            CAPTURE(spelling);
            CAPTURE(ranks);
            const Plan plan = played_by_first(make_plan(spelling, ranks));
            const auto all = all_steps(plan);
            for (Rank self = 0; self < ranks; ++self) REQUIRE(flattened(all[self]) == plan.program(self));
            REQUIRE(loose_ends(all) == 0);
        }
}

TEST_CASE("a round of an exchange is one step, so a NIC has room for 2^14 ranks pairwise") {
    CHECK(compile_steps(make_plan("dissemination", 16), 3).size() == 4);
    CHECK(compile_steps(make_plan("pairwise", 1U << 14), 77).size() == 14);
    CHECK(compile_steps(make_plan("pairwise", 13), 0).size() == 5);
    CHECK(compile_steps(make_plan("central", 9), 0).size() == 16);
}

TEST_CASE("a role's steps are its first member's") {
    const Plan plan = parse_plan("written", "!a ?a\n!a ?a\na: ?0 ?1 !0 !1");
    CHECK(flattened(compile_steps(plan, 0)) == Program{await(1), signal(1)});
    CHECK(flattened(compile_steps(plan, 1)) == Program{signal(0), await(0)});
}

TEST_CASE("a step without its other end is refused") {
    CHECK(refused("0: !1\n1: ?0") == "accepted");
    for (const char* loose : {"0: !1\n1:", "0: ?1\n1:"})
        CHECK(refused(loose) == "plan 'written' has a signal without await, or an await without signal");
    CHECK(refused("0: !1 !1\n1: ?0 ?0") == "plan 'written' uses a channel twice");
}
