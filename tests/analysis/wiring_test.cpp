// SPDX-License-Identifier: Apache-2.0
#include "analysis/wiring.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

using namespace tollbar;

TEST_CASE("a signal and the await it meets carry the same message, numbered by awaits") {
    const Wiring wiring = wire(parse_plan("three", "0: ?2 ?1 !1 !2\n1: !0 ?0\n2: !0 ?0"));
    REQUIRE(wiring.fault.holds());
    CHECK(wiring.messages == 4);
    CHECK(wiring.first == std::vector<Index>{0, 4, 6, 8});
    CHECK(wiring.message == std::vector<Index>{0, 1, 2, 3, 1, 2, 0, 3});
}

TEST_CASE("neighbouring awaits are one set, which ends with the program") {
    const Wiring wiring = wire(make_plan("dissemination:2", 4));  // 0: !1 !2 ?3 ?2 !3 ?1
    CHECK(wiring.set_end(2, 0) == 4);
    CHECK(wiring.set_end(3, 0) == 4);
    CHECK(wiring.set_end(5, 0) == 6);
}

TEST_CASE("every plan of the catalogue has one await for each signal") {
    for (const Algorithm& algorithm : catalogue())
        for (const Rank ranks : {1U, 2U, 9U, 100U}) {
            const Wiring wiring = wire(make_plan(algorithm.name, ranks));
            CHECK(wiring.fault.holds());
            CHECK(2 * wiring.messages == wiring.steps.size());
        }
}
