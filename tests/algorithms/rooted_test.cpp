// SPDX-License-Identifier: Apache-2.0
#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

using namespace tollbar;

TEST_CASE("central gathers and releases everybody at rank 0") {
    CHECK(to_text(make_plan("central", 4)) ==
          "0: ?1 ?2 ?3 !1 !2 !3\n"
          "1: !0 ?0\n"
          "2: !0 ?0\n"
          "3: !0 ?0\n");
}

TEST_CASE("combining gathers in groups of n and releases along Open MPI's broadcast tree") {
    CHECK(to_text(make_plan("combining:3", 7)) ==
          "0: ?1 ?2 ?3 ?6 !1 !2 !4\n"
          "1: !0 ?0 !3 !5\n"
          "2: !0 ?0 !6\n"
          "3: ?4 ?5 !0 ?1\n"
          "4: !3 ?0\n"
          "5: !3 ?1\n"
          "6: !0 ?2\n");
}

TEST_CASE("in a tournament the lower rank of two wins") {
    CHECK(to_text(make_plan("tournament", 6)) ==
          "0: ?1 ?2 ?4 !1 !2 !4\n"
          "1: !0 ?0 !3 !5\n"
          "2: ?3 !0 ?0\n"
          "3: !2 ?1\n"
          "4: ?5 !0 ?0\n"
          "5: !4 ?1\n");
}

TEST_CASE("bst goes up and down the same binomial tree") {
    CHECK(to_text(make_plan("bst", 6)) ==
          "0: ?1 ?2 ?4 !1 !2 !4\n"
          "1: ?3 ?5 !0 ?0 !3 !5\n"
          "2: !0 ?0\n"
          "3: !1 ?1\n"
          "4: !0 ?0\n"
          "5: !1 ?1\n");
}

TEST_CASE("the f-way tournament goes down its own tree, top level first") {
    CHECK(to_text(make_plan("fway_tournament:3", 7)) ==
          "0: ?1 ?2 ?3 ?6 !3 !6 !1 !2\n"
          "1: !0 ?0\n"
          "2: !0 ?0\n"
          "3: ?4 ?5 !0 ?0 !4 !5\n"
          "4: !3 ?3\n"
          "5: !3 ?3\n"
          "6: !0 ?0\n");
}

TEST_CASE("inside a level the f-way tournament releases in ascending order, whatever the level") {
    CHECK(to_text(make_plan("fway_tournament:3", 27).program(0)) == "?1 ?2 ?3 ?6 ?9 ?18 !9 !18 !3 !6 !1 !2");
    CHECK(to_text(make_plan("fway_tournament:3", 27).program(9)) == "?10 ?11 ?12 ?15 !0 ?0 !12 !15 !10 !11");
}

TEST_CASE("mcs gathers along a 4-ary heap and wakes along a binary one") {
    CHECK(to_text(make_plan("mcs", 8)) ==
          "0: ?1 ?2 ?3 ?4 !1 !2\n"
          "1: ?5 ?6 ?7 !0 ?0 !3 !4\n"
          "2: !0 ?0 !5 !6\n"
          "3: !0 ?1 !7\n"
          "4: !0 ?1\n"
          "5: !1 ?2\n"
          "6: !1 ?2\n"
          "7: !1 ?3\n");
}

TEST_CASE("mcs takes both arities") {
    CHECK(to_text(make_plan("mcs:2,3", 6)) ==
          "0: ?1 ?2 !1 !2 !3\n"
          "1: ?3 ?4 !0 ?0 !4 !5\n"
          "2: ?5 !0 ?0\n"
          "3: !1 ?0\n"
          "4: !1 ?1\n"
          "5: !2 ?1\n");
}

TEST_CASE("combining with groups of two and the tournament are the same plan") {
    for (Rank ranks = 1; ranks <= 300; ++ranks)
        CHECK(to_text(make_plan("combining:2", ranks)) == to_text(make_plan("tournament", ranks)));
}

TEST_CASE("the largest radix makes one group of all") {
    for (const char* spelling : {"combining:16777216", "fway_tournament:16777216", "mcs:16777216,16777216"})
        CHECK(to_text(make_plan(spelling, 5).program(0)).starts_with("?1 ?2 ?3 ?4 !1 !2"));
    CHECK(to_text(make_plan("fway_tournament:16777216", max_ranks).program(max_ranks - 1)) == "!0 ?0");
}

TEST_CASE("one rank gathers nobody") {
    for (const Algorithm& algorithm : catalogue()) CHECK(make_plan(algorithm.name, 1).program(0).empty());
}
