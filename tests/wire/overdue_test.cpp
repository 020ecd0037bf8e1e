// SPDX-License-Identifier: Apache-2.0
// When a message is asked for again.
#include "wire/overdue.hpp"

#include <doctest/doctest.h>

using namespace tollbar;
using namespace tollbar::detail;
using namespace std::chrono_literals;

TEST_CASE("a time-out doubles each time it has passed, up to the longest, and begins again with news") {
    Overdue overdue(1ns, 4ns);
    overdue.reset();
    CHECK(overdue.grown() == 1);
    for (const int grown : {2, 4, 4}) {
        while (!overdue.passed(0)) {
        }
        CHECK(overdue.grown() == grown);
    }
    (void)overdue.passed(1);
    CHECK(overdue.grown() <= 2);
}

TEST_CASE("nothing is overdue before its time") {
    Overdue overdue(1h, 2h);
    overdue.reset();
    CHECK_FALSE(overdue.passed(0));
    CHECK(overdue.left() > 59min);
    CHECK(overdue.left() <= 1h);
}
