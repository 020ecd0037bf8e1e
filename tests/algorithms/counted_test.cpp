// SPDX-License-Identifier: Apache-2.0
#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

using namespace tollbar;

TEST_CASE("at a turnstile everybody tells one role and hears from it") {
    CHECK(to_text(make_plan("turnstile", 4)) ==
          "0: !a ?a\n"
          "1: !a ?a\n"
          "2: !a ?a\n"
          "3: !a ?a\n"
          "a: ?0 ?1 ?2 ?3 !0 !1 !2 !3\n");
}

TEST_CASE("the counter of PEs, a NIC that gathers and a switch that counts have the turnstile's words") {
    for (const char* name : {"counter", "card:gather", "switch"})
        for (const Rank ranks : {1U, 2U, 9U})
            CHECK(to_text(make_plan(name, ranks)) == to_text(make_plan("turnstile", ranks)));
}

TEST_CASE("a single rank needs no counter") {
    CHECK(make_plan("turnstile", 1).roles() == 0);
    CHECK(to_text(make_plan("turnstile", 1)) == "0:\n");
}

TEST_CASE("in a combination the ranks of a processor meet at a role, which runs the plan between processors") {
    CHECK(to_text(make_plan("combination:2", 4)) ==
          "0: !a ?a\n"
          "1: !b ?b\n"
          "2: !a ?a\n"
          "3: !b ?b\n"
          "a: ?0 ?2 !b ?b !0 !2\n"
          "b: ?1 ?3 !a ?a !1 !3\n");
    CHECK(to_text(make_plan("combination:2/central", 5)) ==
          "0: !a ?a\n"
          "1: !b ?b\n"
          "2: !a ?a\n"
          "3: !b ?b\n"
          "4: !a ?a\n"
          "a: ?0 ?2 ?4 ?b !b !0 !2 !4\n"
          "b: ?1 ?3 !a ?a !1 !3\n");
}

TEST_CASE("a rank that is alone on its processor stands for it itself") {
    CHECK(to_text(make_plan("combination:3/central", 4)) ==
          "0: !a ?a\n"
          "1: !a ?a\n"
          "2: !a ?a\n"
          "3: !a ?a\n"
          "a: ?0 ?3 ?1 ?2 !1 !2 !0 !3\n");
    for (const char* spelling : {"combination:6/mcs", "combination:7/mcs", "combination:16777216/mcs"})
        CHECK(to_text(make_plan(spelling, 6)) == to_text(make_plan("mcs", 6)));
}

TEST_CASE("a combination on one processor is a turnstile, and there are two processors unless told otherwise") {
    for (const Rank ranks : {1U, 2U, 9U}) {
        CHECK(to_text(make_plan("combination:1", ranks)) == to_text(make_plan("turnstile", ranks)));
        CHECK(to_text(make_plan("combination", ranks)) == to_text(make_plan("combination:2/dissemination", ranks)));
    }
}

TEST_CASE("counters of counters are a tree") {
    CHECK(to_text(make_plan("turnstile@2/turnstile@2/turnstile", 8)) ==
          "0: !a ?a\n"
          "1: !a ?a\n"
          "2: !b ?b\n"
          "3: !b ?b\n"
          "4: !c ?c\n"
          "5: !c ?c\n"
          "6: !d ?d\n"
          "7: !d ?d\n"
          "a: ?0 ?1 !e ?e !0 !1\n"
          "b: ?2 ?3 !e ?e !2 !3\n"
          "c: ?4 ?5 !f ?f !4 !5\n"
          "d: ?6 ?7 !f ?f !6 !7\n"
          "e: ?a ?b !g ?g !a !b\n"
          "f: ?c ?d !g ?g !c !d\n"
          "g: ?e ?f !e !f\n");
}
