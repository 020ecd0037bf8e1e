// SPDX-License-Identifier: Apache-2.0
#include "plan/grouping.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/plan.hpp>
#include <tollbar/verify.hpp>

#include "refusal.hpp"

#include <doctest/doctest.h>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

Family family(std::string spelling) {
    return [spelling](Rank ranks) { return make_plan(spelling, ranks); };
}

bool turns_at_its_role(const Algorithm& algorithm) {
    return !algorithm.player.empty() && algorithm.name != "combination";
}

bool rooted(std::string_view words) { return is_rooted(parse_plan("written", words)); }

}  // namespace

TEST_CASE("two levels run the outer plan between a group's gather and its release") {
    const Plan plan = combine(5, family("central"), 2, make_plan("dissemination", 3));
    CHECK(plan.name() == "central@2/dissemination");
    CHECK(to_text(plan) ==
          "0: ?1 !2 ?4 !4 ?2 !1\n"
          "1: !0 ?0\n"
          "2: ?3 !4 ?0 !0 ?4 !3\n"
          "3: !2 ?2\n"
          "4: !0 ?2 !2 ?0\n");
}

TEST_CASE("any rooted inner plan with any outer plan is a barrier") {
    for (const char* inner : {"central", "combining", "combining:3", "fway_tournament:3", "mcs", "tournament", "bst",
                              "turnstile", "counter"})
        for (const char* outer : {"central", "combining:2", "turnstile", "combination:3/mcs", "card:gather",
                                  "turnstile@2/bst", "fway_tournament", "mcs", "tournament", "bst", "butterfly",
                                  "pairwise", "dissemination", "dissemination:3"})
            for (const Rank group : {1U, 2U, 3U, 4U, 7U, 16U, 50U})
                for (const Rank ranks : {1U, 2U, 3U, 5U, 8U, 13U, 16U, 31U, 49U}) {
                    const Plan plan = combine(ranks, family(inner), group, make_plan(outer, (ranks - 1) / group + 1));
                    CAPTURE(plan.name());
                    CAPTURE(ranks);
                    CHECK(verify(plan).explain() == Verdict{}.explain());
                }
}

TEST_CASE("two levels are themselves an outer plan") {
    const Plan middle = combine(9, family("mcs"), 3, make_plan("dissemination", 3));
    CHECK(verify(combine(35, family("bst"), 4, middle)).holds());
}

TEST_CASE("a counter's role runs the outer plan between what it awaits and what it releases") {
    const Plan plan = combine(5, family("turnstile"), 2, make_plan("turnstile", 3));
    CHECK(plan.name() == "turnstile@2/turnstile");
    CHECK(to_text(plan) ==
          "0: !a ?a\n"
          "1: !a ?a\n"
          "2: !b ?b\n"
          "3: !b ?b\n"
          "4: !c ?c\n"  // alone in its group
          "a: ?0 ?1 !c ?c !0 !1\n"
          "b: ?2 ?3 !c ?c !2 !3\n"
          "c: ?a ?b ?4 !a !b !4\n");
    CHECK(turning_member(plan) == role(2));
}

TEST_CASE("two levels of counters are themselves an inner plan, which turns at its last role") {
    const Family leaves = [](Rank ranks) { return make_plan("turnstile@2/turnstile", ranks); };
    for (Rank ranks = 1; ranks <= 30; ++ranks) {
        const Plan plan = combine(ranks, leaves, 5, make_plan("dissemination", (ranks - 1) / 5 + 1));
        CAPTURE(to_text(plan));
        CHECK(verify(plan).holds());
    }
}

TEST_CASE("groups may be any lists of ranks") {
    const Grouping scattered = Grouping::listed({{1, 4}, {0}, {2, 3, 5}});
    const Plan plan = combine_turning("mine", scattered, family("central"), make_plan("central", 3));
    CHECK(to_text(plan) ==
          "0: !1 ?1\n"
          "1: ?4 ?0 ?2 !0 !2 !4\n"
          "2: ?3 ?5 !1 ?1 !3 !5\n"
          "3: !2 ?2\n"
          "4: !1 ?1\n"
          "5: !2 ?2\n");
    const Plan counted = combine_turning("mine", scattered, family("turnstile"), make_plan("turnstile", 3));
    CHECK(to_text(counted) ==
          "0: !c ?c\n"
          "1: !a ?a\n"
          "2: !b ?b\n"
          "3: !b ?b\n"
          "4: !a ?a\n"
          "5: !b ?b\n"
          "a: ?1 ?4 !c ?c !1 !4\n"
          "b: ?2 ?3 ?5 !c ?c !2 !3 !5\n"
          "c: ?a ?0 ?b !a !0 !b\n");
}

TEST_CASE("an exchange plan cannot stand inside a group") {
    for (const char* inner : {"dissemination", "dissemination:2", "pairwise", "butterfly"})
        for (const Rank group : {2U, 3U, 4U})
            CHECK(refusal([&] { (void)combine(12, family(inner), group, make_plan("central", 12 / group)); }) ==
                  "'" + std::string(inner) + "' cannot stand inside a group of " + std::to_string(group) +
                      ": its rank 0 does not hear from every rank before it releases any");
}

TEST_CASE("the last, smaller group is looked at too") {
    const Family sound_for_three = [](Rank ranks) { return make_plan(ranks == 3 ? "central" : "pairwise", ranks); };
    CHECK(refusal([&] { (void)combine(6, sound_for_three, 3, make_plan("central", 2)); }) == "accepted");
    CHECK(refusal([&] {
              (void)combine(5, sound_for_three, 3, make_plan("central", 2));
          }).starts_with("'pairwise' cannot stand inside a group of 2"));
}

TEST_CASE("an outer plan of another size is refused with both sizes") {
    CHECK(refusal([] { (void)combine(10, family("central"), 4, make_plan("mcs", 4)); }) ==
          "10 ranks in groups of 4 need an outer plan of 3 ranks, not 4");
}

TEST_CASE("an inner plan of another size than asked for is refused with both sizes") {
    const Family stubborn = [](Rank) { return make_plan("central", 2); };
    CHECK(refusal([&] { (void)combine(9, stubborn, 3, make_plan("mcs", 3)); }) ==
          "a group of 3 ranks was given 'central' for 2 ranks");
}

TEST_CASE("groups of nobody, no ranks and too many ranks are refused") {
    CHECK(refusal([] { (void)combine(4, family("central"), 0, make_plan("mcs", 4)); }) ==
          "a group has at least 1 rank, not 0");
    CHECK(refusal([] { (void)combine(0, family("central"), 2, make_plan("mcs", 1)); }) ==
          "a plan has 1 to 16777216 ranks, not 0");
    CHECK(refusal([] { (void)combine(max_ranks + 1, family("central"), max_ranks + 1, make_plan("mcs", 1)); }) ==
          "a plan has 1 to 16777216 ranks, not 16777217");
}

TEST_CASE("a family known to turn at one member is combined without reading any program") {
    int read = 0;
    const Family counted = [&read](Rank ranks) {
        return Plan("counted", ranks, [&read, ranks](Rank self) {
            ++read;
            return make_plan("mcs", ranks).program(self);
        });
    };
    const Plan plan = combine_turning("mine", Grouping::neighbours(1000, 100), counted, make_plan("dissemination", 10));
    CHECK(read == 0);
    CHECK(plan.program(101) == combine(1000, family("mcs"), 100, make_plan("dissemination", 10)).program(101));
    CHECK(read == 1);
}

TEST_CASE("plans of one tree up and one tree down are rooted") {
    CHECK(rooted("0:"));
    CHECK(rooted("0: ?1 !1\n1: !0 ?0"));
    CHECK(rooted("0: ?2 ?1 !1 !2\n1: !0 ?0\n2: !0 ?0"));
    CHECK(rooted("0: ?1 !2\n1: ?2 !0 ?2\n2: !1 ?0 !1"));  // two different trees
    for (const Algorithm& algorithm : catalogue())
        for (const Rank ranks : {1U, 2U, 3U, 7U, 16U, 23U}) {
            const std::string name(algorithm.name);
            CAPTURE(name);
            const bool at_rank_0 = ranks == 1 || (algorithm.inner && algorithm.player.empty());
            CHECK(is_rooted(make_plan(name, ranks)) == at_rank_0);
            CHECK(turning_member(make_plan(name, ranks)).has_value() == (at_rank_0 || turns_at_its_role(algorithm)));
        }
}

TEST_CASE("a plan may turn at a role, but at no rank other than 0") {
    CHECK(turning_member(parse_plan("written", "0: !a ?a\n1: !a ?a\na: ?0 ?1 !0 !1")) == role(0));
    CHECK(turning_member(parse_plan("written", "0: ?a !a\na: !0 ?0")) == 0);
    CHECK_FALSE(turning_member(parse_plan("written", "0: !1 ?1\n1: ?0 !0")));
    CHECK_FALSE(turning_member(parse_plan("written", "0: !a ?a\n1: !b ?b\na: ?0 !0\nb: ?1 !1")));
}

TEST_CASE("a plan whose rank 0 releases before it has gathered is not rooted") {
    CHECK_FALSE(rooted("0: !1 ?1\n1: !0 ?0"));
    CHECK_FALSE(rooted("0: ?1 !1 ?2 !2\n1: !0 ?0\n2: !0 ?0"));
}

TEST_CASE("a plan in which a rank leaves without a release, or enters nowhere, is not rooted") {
    CHECK_FALSE(rooted("0: ?1\n1: !0"));
    CHECK_FALSE(rooted("0: !1\n1: ?0"));
    CHECK_FALSE(rooted("0: ?1 !1\n1: !0 ?0\n2:"));
    CHECK_FALSE(rooted("0: ?1 !1\n1: ?0 !0"));
}

TEST_CASE("parents that follow each other in a circle are not rooted") {
    CHECK_FALSE(rooted("0: ?3 !1 !2 !3\n1: ?2 !2 ?0\n2: ?1 !1 ?0\n3: !0 ?0"));  // gather
    CHECK_FALSE(rooted("0: ?1 ?2 ?3 !3\n1: !0 ?2 !2\n2: !0 ?1 !1\n3: !0 ?0"));  // release
    CHECK_FALSE(rooted("0: ?2 !1 !2\n1: ?1 !1 ?0\n2: !0 ?0"));                  // its own parent
}

TEST_CASE("a child that is claimed twice, by another than its parent, or by nobody is not rooted") {
    CHECK_FALSE(rooted("0: ?1 ?1 !1\n1: !0 ?0"));
    CHECK_FALSE(rooted("0: ?1 !1 !1\n1: !0 ?0"));
    CHECK_FALSE(rooted("0: ?1 ?2 !1 !2\n1: ?2 !0 ?0\n2: !0 ?0"));
    CHECK_FALSE(rooted("0: ?1 !1 !2\n1: !0 ?0 !2\n2: !0 ?0"));
    CHECK_FALSE(rooted("0: ?1 !1 !2\n1: !0 ?0\n2: !0 ?0"));
}

TEST_CASE("a plan that names ranks that do not exist is not rooted") {
    CHECK_FALSE(rooted("0: ?9 !1\n1: !0 ?0"));
    CHECK_FALSE(rooted("0: ?1 !9\n1: !0 ?0"));
    CHECK_FALSE(rooted("0: ?1 !1\n1: !9 ?0"));
    CHECK_FALSE(rooted("0: ?1 !1\n1: !0 ?9"));
    CHECK_FALSE(rooted("0: ?1 ?16777215 !1\n1: !0 ?0"));
    CHECK_FALSE(rooted("0: ?0 ?1 !1\n1: !0 ?0"));
}
