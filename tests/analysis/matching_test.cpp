// SPDX-License-Identifier: Apache-2.0
#include "analysis/matching.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

using namespace tollbar;
using namespace tollbar::detail;

TEST_CASE("a signal and the await it meets carry the same message, numbered by awaits") {
    const Matching matching = match(parse_plan("three", "0: ?2 ?1 !1 !2\n1: !0 ?0\n2: !0 ?0"));
    REQUIRE(matching.fault.holds());
    CHECK(matching.messages == 4);
    CHECK(matching.first == std::vector<Index>{0, 4, 6, 8});
    CHECK(matching.message == std::vector<Index>{0, 1, 2, 3, 1, 2, 0, 3});
}

TEST_CASE("neighbouring awaits are one set, which ends with the program") {
    const Matching matching = match(make_plan("dissemination:2", 4));  // 0: !1 !2 ?3 ?2 !3 ?1
    CHECK(matching.set_end(2, 0) == 4);
    CHECK(matching.set_end(3, 0) == 4);
    CHECK(matching.set_end(5, 0) == 6);
}

TEST_CASE("roles are numbered behind the ranks, and what they signal last leaves together") {
    const Matching matching = match(make_plan("combination:2", 4));  // a: ?0 ?2 !b ?b !0 !2
    REQUIRE(matching.fault.holds());
    CHECK(matching.ranks == 4);
    CHECK(matching.members == 6);
    const Index of_a = matching.first[4];
    CHECK(matching.steps[of_a + 2] == signal(5));
    CHECK(matching.steps[of_a + 4] == signal(0));
    for (Index step = of_a; step < matching.first[5]; ++step)
        CHECK(matching.leaves_with_former(4, step) == (step == of_a + 5));
    CHECK_FALSE(matching.leaves_with_former(0, 1));
}

TEST_CASE("every plan of the catalogue has one await for each signal") {
    for (const Algorithm& algorithm : catalogue())
        for (const Rank ranks : {1U, 2U, 9U, 100U}) {
            const Matching matching = match(make_plan(algorithm.name, ranks));
            CHECK(matching.fault.holds());
            CHECK(2 * matching.messages == matching.steps.size());
        }
}
