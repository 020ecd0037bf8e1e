// SPDX-License-Identifier: Apache-2.0
#include "analysis/unheard.hpp"

#include <tollbar/algorithms.hpp>

#include "naive.hpp"
#include "refusal.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

std::vector<Rank> everybody_but(Rank self, Rank ranks) {
    std::vector<Rank> others;
    for (Rank rank = 0; rank < ranks; ++rank)
        if (rank != self) others.push_back(rank);
    return others;
}

}  // namespace

TEST_CASE("nobody is unheard at the end of any rank's program, everybody else at its start") {
    for (const Algorithm& algorithm : catalogue())
        for (const Rank ranks : {1U, 2U, 5U, 16U, 33U}) {
            const Plan plan = make_plan(algorithm.name, ranks);
            for (Rank self = 0; self < ranks; ++self) {
                CHECK(unheard(plan, self, plan.program(self).size()).empty());
                CHECK(unheard(plan, self, 0) == everybody_but(self, ranks));
            }
        }
}

TEST_CASE("who is unheard shrinks with each await of dissemination") {
    const Plan plan = make_plan("dissemination", 8);  // 0: !1 ?7 !2 ?6 !4 ?4
    CHECK(unheard(plan, 0, 1) == std::vector<Rank>{1, 2, 3, 4, 5, 6, 7});
    CHECK(unheard(plan, 0, 2) == std::vector<Rank>{1, 2, 3, 4, 5, 6});
    CHECK(unheard(plan, 0, 3) == std::vector<Rank>{1, 2, 3, 4, 5, 6});
    CHECK(unheard(plan, 0, 4) == std::vector<Rank>{1, 2, 3, 4});
    CHECK(unheard(plan, 0, 6).empty());
}

TEST_CASE("an await counts for all that its sender had heard of, and for no more") {
    const Plan plan = make_plan("mcs", 8);  // 0: ?1 ?2 ?3 ?4 !1 !2 and 1 gathers 5, 6, 7
    CHECK(unheard(plan, 0, 1) == std::vector<Rank>{2, 3, 4});
    CHECK(unheard(plan, 0, 3) == std::vector<Rank>{4});
    CHECK(unheard(plan, 1, 2) == std::vector<Rank>{0, 2, 3, 4, 7});
    CHECK(unheard(plan, 7, 1) == std::vector<Rank>{0, 1, 2, 3, 4, 5, 6});
    CHECK(unheard(plan, 7, 2).empty());
}

TEST_CASE("at every step the unheard are those that a run up to there has not told of") {
    for (const Algorithm& algorithm : catalogue())
        for (const Rank ranks : {3U, 6U, 12U}) {
            const Plan plan = make_plan(algorithm.name, ranks);
            for (Rank self = 0; self < ranks; ++self)
                for (std::size_t steps = 0; steps <= plan.program(self).size(); ++steps) {
                    std::vector<Program> programs = naive::of_members(plan);
                    programs[self].erase(programs[self].begin() + static_cast<std::ptrdiff_t>(steps),
                                         programs[self].end());
                    const naive::Outcome outcome = naive::run(programs, ranks);
                    REQUIRE(outcome.steps[self] == steps);
                    std::vector<Rank> expected;
                    for (const Rank other : everybody_but(self, ranks))
                        if (!outcome.known[self].contains(other)) expected.push_back(other);
                    CHECK(unheard(plan, self, steps) == expected);
                }
        }
}

TEST_CASE("a rank that waits for a role knows only what it heard before, and then whom the role has heard") {
    const Plan leaves = make_plan("turnstile@2/turnstile", 4);  // a: ?0 ?1 !c ?c !0 !1, b: ?2 ?3 !c ?c .., c: ?a ?b ..
    CHECK(unheard(leaves, 0, 1) == std::vector<Rank>{1, 2, 3});
    CHECK(unheard(leaves, 0, 2).empty());
    const Plan two = make_plan("combination:2/central", 4);  // a: ?0 ?2 ?b !b !0 !2
    CHECK(unheard(two, role(0), 0) == std::vector<Rank>{0, 1, 2, 3});
    CHECK(unheard(two, role(0), 1) == std::vector<Rank>{1, 2, 3});
    CHECK(unheard(two, role(0), 2) == std::vector<Rank>{1, 3});
    CHECK(unheard(two, role(0), 3).empty());
}

TEST_CASE("in a plan that is no barrier those never heard of stay unheard") {
    CHECK(unheard(parse_plan("chain", "0: !1\n1: ?0 !2\n2: ?1"), 1, 2) == std::vector<Rank>{2});
    CHECK(unheard(parse_plan("stray", "0: ?1 ?9\n1:"), 0, 2) == std::vector<Rank>{1});
    CHECK(unheard(parse_plan("circle", "0: ?1 !1\n1: ?0 !0"), 0, 1).empty());
}

TEST_CASE("a rank or a step that does not exist is refused") {
    const Plan plan = make_plan("central", 3);
    CHECK(refusal([&] { (void)unheard(plan, 3, 0); }) == "rank 3 is not one of 0..2");
    CHECK(refusal([&] { (void)unheard(plan, 1, 3); }) == "rank 1 has 2 steps, not 3");
    CHECK(refusal([&] { (void)unheard(plan, role(0), 0); }) == "role a is not one of the 0 of 'central'");
    CHECK(refusal([] { (void)unheard(make_plan("turnstile", 2), role(0), 5); }) == "role a has 4 steps, not 5");
}
