// SPDX-License-Identifier: Apache-2.0
#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

using namespace tollbar;

TEST_CASE("dissemination tells the rank 1, 2, 4 .. further and hears from as far behind") {
    CHECK(to_text(make_plan("dissemination", 4)) ==
          "0: !1 ?3 !2 ?2\n"
          "1: !2 ?0 !3 ?3\n"
          "2: !3 ?1 !0 ?0\n"
          "3: !0 ?2 !1 ?1\n");
}

TEST_CASE("dissemination with two ways tells two ranks a round, as far as they are others") {
    const Plan plan = make_plan("dissemination:2", 7);
    CHECK(to_text(plan.program(0)) == "!1 !2 ?6 ?5 !3 !6 ?4 ?1");
    for (Rank self = 0; self < 7; ++self) {
        Program moved = plan.program(0);
        for (Step& step : moved) step.peer = (step.peer + self) % 7;
        CHECK(plan.program(self) == moved);
    }
}

TEST_CASE("dissemination needs as many rounds as the ways plus one must be multiplied to reach all ranks") {
    CHECK(make_plan("dissemination:3", 64).program(5).size() == 3 * 6);
    CHECK(make_plan("dissemination:3", 65).program(5).size() == 3 * 6 + 2);
    CHECK(make_plan("dissemination:7", 8).program(5).size() == 14);
}

TEST_CASE("pairwise exchange folds the ranks above the largest power of two in and out") {
    CHECK(to_text(make_plan("pairwise", 6)) ==
          "0: ?4 !1 ?1 !2 ?2 !4\n"
          "1: ?5 !0 ?0 !3 ?3 !5\n"
          "2: !3 ?3 !0 ?0\n"
          "3: !2 ?2 !1 ?1\n"
          "4: !0 ?0\n"
          "5: !1 ?1\n");
}

TEST_CASE("in the butterfly a missing rank is played by the one without its highest bit") {
    CHECK(to_text(make_plan("butterfly", 3)) ==
          "0: !1 ?1 !2 ?2\n"
          "1: !0 !2 ?0 ?2\n"
          "2: !1 ?1 !0 ?0\n");
    CHECK(to_text(make_plan("butterfly", 6)) ==
          "0: !1 ?1 !2 ?2 !4 ?4\n"
          "1: !0 ?0 !3 ?3 !5 ?5\n"
          "2: !3 ?3 !0 !4 ?0 ?4\n"
          "3: !2 ?2 !1 !5 ?1 ?5\n"
          "4: !5 ?5 !2 ?2 !0 ?0\n"
          "5: !4 ?4 !3 ?3 !1 ?1\n");
}

TEST_CASE("butterfly and pairwise exchange are the same plan at powers of two") {
    for (Rank ranks = 1; ranks <= 256; ranks *= 2)
        CHECK(to_text(make_plan("butterfly", ranks)) == to_text(make_plan("pairwise", ranks)));
}

TEST_CASE("one rank exchanges nothing") {
    for (const char* name : {"dissemination", "dissemination:7", "pairwise", "butterfly"})
        CHECK(make_plan(name, 1).program(0).empty());
}
