// SPDX-License-Identifier: Apache-2.0
#include "plan/combine.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/plan.hpp>
#include <tollbar/verify.hpp>

#include "refusal.hpp"

#include <doctest/doctest.h>

using namespace tollbar;

namespace {

Family family(std::string spelling) {
    return [spelling](Rank ranks) { return make_plan(spelling, ranks); };
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
    for (const char* inner : {"central", "combining", "combining:3", "fway_tournament:3", "mcs", "tournament", "bst"})
        for (const char* outer : {"central", "combining:2", "fway_tournament", "mcs", "tournament", "bst", "butterfly",
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

TEST_CASE("an exchange plan cannot stand inside a group") {
    for (const char* inner : {"dissemination", "dissemination:2", "pairwise", "butterfly"})
        for (const Rank group : {2U, 3U, 4U})
            CHECK(refusal([&] { (void)combine(12, family(inner), group, make_plan("central", 12 / group)); }) ==
                  "'" + std::string(inner) + "' cannot stand inside a group of " + std::to_string(group) +
                      ": its rank 0 does not gather everybody before it releases anybody");
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

TEST_CASE("a family known to be rooted is combined without reading any program") {
    int read = 0;
    const Family counted = [&read](Rank ranks) {
        return Plan("counted", ranks, [&read, ranks](Rank self) {
            ++read;
            return make_plan("mcs", ranks).program(self);
        });
    };
    const Plan plan = combine_rooted(1000, counted, 100, make_plan("dissemination", 10));
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
            CHECK(is_rooted(make_plan(name, ranks)) == (algorithm.rooted || ranks == 1));
        }
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
    CHECK_FALSE(rooted("0: ?1 ?4294967295 !1\n1: !0 ?0"));
    CHECK_FALSE(rooted("0: ?0 ?1 !1\n1: !0 ?0"));
}
