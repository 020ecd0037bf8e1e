// SPDX-License-Identifier: Apache-2.0
// A plan whose roles are played by ranks is the same barrier.
#include "plan/played.hpp"

#include "refusal.hpp"

#include <tollbar/verify.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tollbar;

namespace {

std::string played(const char* words) { return to_text(played_by_first(parse_plan("written", words))); }

/// Rank r meets the others of r % groups at a role of theirs; those roles exchange `stride` by `stride` in between.
Plan exchanging_groups(Rank ranks, Rank groups) {
    const auto rule = [=](Rank self) {
        if (!is_role(self)) return Program{signal(role(self % groups)), await(role(self % groups))};
        const Rank group = role_number(self);
        Program word;
        for (Rank rank = group; rank < ranks; rank += groups) word.push_back(await(rank));
        for (Rank stride = 1; stride < groups; stride *= 2) {
            word.push_back(signal(role((group + stride) % groups)));
            word.push_back(await(role((group + groups - stride) % groups)));
        }
        for (Rank rank = group; rank < ranks; rank += groups) word.push_back(signal(rank));
        return word;
    };
    return {"groups", ranks, rule, groups};
}

}  // namespace

TEST_CASE("the first member hears the others and tells them") {
    CHECK(played("!a ?a\n!a ?a\n!a ?a\na: ?0 ?1 ?2 !0 !1 !2") == "0: ?1 ?2 !1 !2\n1: !0 ?0\n2: !0 ?0\n");
    CHECK(played("!a ?a\na: ?0 !0") == "0:\n");
}

TEST_CASE("what a role does in between its first member does, after it has heard the others") {
    CHECK(played("!a ?a\n!b ?b\n!a ?a\n!b ?b\na: ?0 ?2 !b ?b !0 !2\nb: ?1 ?3 !a ?a !1 !3") ==
          "0: ?2 !1 ?1 !2\n1: ?3 !0 ?0 !3\n2: !0 ?0\n3: !1 ?1\n");
}

TEST_CASE("a role that is a member of a role is played there as well") {
    CHECK(played("!a ?a\n!a ?a\n!b ?b\n!b ?b\na: ?0 ?1 !c ?c !0 !1\nb: ?2 ?3 !c ?c !2 !3\nc: ?a ?b !a !b") ==
          "0: ?1 ?2 !2 !1\n1: !0 ?0\n2: ?3 !0 ?0 !3\n3: !2 ?2\n");
}

TEST_CASE("a barrier with roles is one without, for every size") {
    for (Rank ranks = 1; ranks <= 64; ++ranks)
        for (const Rank groups : {1U, 2U, 3U, 7U}) {
            if (groups > ranks) continue;
            CAPTURE(ranks);
            CAPTURE(groups);
            const Plan plan = played_by_first(exchanging_groups(ranks, groups));
            CHECK(plan.roles() == 0);
            REQUIRE(verify(plan).holds());
        }
}

TEST_CASE("a plan without roles stays as it is, and a role without members is refused") {
    CHECK(played("!1 ?1\n!0 ?0") == "0: !1 ?1\n1: !0 ?0\n");
    CHECK(refusal([] { played("!a ?a\na: !0"); }) == "plan 'written': nobody plays role a");
}
