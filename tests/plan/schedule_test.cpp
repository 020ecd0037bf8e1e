// SPDX-License-Identifier: Apache-2.0
// What a rank does in an episode, whoever plays the roles of its plan; and that a plan whose roles are played by ranks
// is the same barrier.
#include "plan/schedule.hpp"

#include "refusal.hpp"

#include <tollbar/verify.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

/// "signal 0>1/0", "await 1>0/0", "count a/4", "meet a/2+3", "release a".
std::string text(const std::vector<Operation>& steps) {
    using Kind = Operation::Kind;
    std::string line;
    for (const Operation& step : steps) {
        const std::string role = member_text(step.role), share = "/" + std::to_string(step.share);
        const std::string channel = member_text(step.from) + ">" + member_text(step.to) + "/" +
                                    std::to_string(step.slot);
        if (!line.empty()) line += ", ";
        switch (step.kind) {
            case Kind::signal: line += "signal " + channel; break;
            case Kind::await: line += "await " + channel; break;
            case Kind::count: line += "count " + role + share; break;
            case Kind::counted: line += "counted " + role + share; break;
            case Kind::meet: line += "meet " + role + share + "+" + std::to_string(step.skip); break;
            case Kind::release: line += "release " + role; break;
            case Kind::released: line += "released " + role; break;
        }
    }
    return line;
}

std::string lowered(const Plan& plan, Rank self, Player player = Player::last) {
    return text(Lowering(plan, player).operations(self));
}

std::string refusal_of(const std::string& words, Rank self) {
    return refusal([&] { (void)lowered(parse_plan("odd", words), self); });
}

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

const Plan turnstile = parse_plan("turnstile", "!a ?a\n!a ?a\n!a ?a\na: ?0 ?1 ?2 !0 !1 !2");
const Plan combination = parse_plan("combination",
                                    "!a ?a\n!b ?b\n!a ?a\n!b ?b\na: ?0 ?2 !b ?b !0 !2\nb: ?1 ?3 !a ?a !1 !3");

}  // namespace

TEST_CASE("each step names its channel, and which of the receiver's awaits ends it") {
    const Plan plan = parse_plan("rooted", "?1 ?2 !1 !2\n!0 ?0\n!0 ?0");
    CHECK(lowered(plan, 0) == "await 1>0/0, await 2>0/1, signal 0>1/0, signal 0>2/0");
    CHECK(lowered(plan, 2) == "signal 2>0/1, await 0>2/0");
}

TEST_CASE("of a role that only releases the counter is the release, whoever would play it") {
    for (const Player player : {Player::last, Player::first})
        for (Rank self = 0; self < 3; ++self) CHECK(lowered(turnstile, self, player) == "count a/3, counted a/3");
}

TEST_CASE("the last of its members goes on with the word of a role, the others skip it") {
    CHECK(lowered(combination, 0) == "meet a/2+3, signal a>b/2, await b>a/2, release a, released a");
    CHECK(lowered(combination, 3) == "meet b/2+3, signal b>a/2, await a>b/2, release b, released b");
}

TEST_CASE("the first of its members goes on with the word of a role, the others tell it and await its release") {
    CHECK(lowered(combination, 0, Player::first) == "counted a/1, signal a>b/2, await b>a/2, release a");
    CHECK(lowered(combination, 2, Player::first) == "count a/1, released a");
    Lowering lowering(combination, Player::first);
    CHECK(lowering.first_player(role(1)) == 1);
    CHECK(lowering.first_player(3) == 3);
}

TEST_CASE("a role may be a member of a role") {
    const Plan leaves = parse_plan("leaves",
                                   "!a ?a\n!a ?a\n!b ?b\n!b ?b\na: ?0 ?1 !c ?c !0 !1\nb: ?2 ?3 !c ?c !2 !3\n"
                                   "c: ?a ?b !a !b");
    CHECK(lowered(leaves, 0) == "meet a/2+3, count c/2, counted c/2, release a, released a");
    CHECK(lowered(leaves, 2, Player::first) == "counted b/1, count c/2, counted c/2, release b");
}

TEST_CASE("a role that has ranks is played by these, and told by roles of other places by channels") {
    const Plan plan = parse_plan("tournament of processors",
                                 "!a ?a\n!b ?b\n!c ?c\n!d ?d\n!a ?a\n!b ?b\n!c ?c\n!d ?d\n"
                                 "a: ?0 ?4 ?b ?c !b !c !0 !4\nb: ?1 ?5 !a ?a !d !1 !5\n"
                                 "c: ?2 ?6 ?d !a ?a !2 !6\nd: ?3 ?7 !c ?b !3 !7");
    CHECK(lowered(plan, 0) ==
          "meet a/2+5, await b>a/2, await c>a/3, signal a>b/2, signal a>c/3, release a, released a");
    CHECK(lowered(plan, 2) == "meet c/2+4, await d>c/2, signal c>a/3, await a>c/3, release c, released c");
    CHECK(lowered(plan, 3) == "meet d/2+3, signal d>c/2, await b>d/2, release d, released d");
}

TEST_CASE("a role of roles may await a rank that is no member of it") {
    const Plan plan = parse_plan("message to a root",
                                 "!c !a ?a\n!b ?b\na: ?0 !c ?c !0\nb: ?1 !c ?c !1\nc: ?0 ?a ?b !a !b");
    REQUIRE(verify(plan).holds());
    CHECK(lowered(plan, 1) == "meet b/1+5, meet c/2+2, await 0>c/0, release c, released c, release b, released b");
    CHECK(verify(played_by_first(plan)).holds());
}

TEST_CASE("a schedule numbers what operations meet at, and names the rank at the other end") {
    const Schedule schedule = lower(parse_plan("rooted", "?1 ?2 !1 !2\n!0 ?0\n!0 ?0"), Player::last);
    REQUIRE(schedule.first == std::vector<Index>{0, 4, 6, 8});
    CHECK(schedule.cells() == 4);
    CHECK(schedule.of(1)[0].cell == schedule.of(0)[0].cell);
    CHECK(schedule.of(2)[1].cell == schedule.of(0)[3].cell);
    CHECK(schedule.of(2)[0].peer == 0);
    CHECK(lower(combination, Player::first).of(0)[1].peer == 1);
    CHECK(lower(combination, Player::last).cells() == 6);  // two channels, and of each role a counter and a release
}

TEST_CASE("a cursor goes through a schedule of roles in every order of arrival") {
    const Schedule schedule = lower(combination, Player::last);
    for (Rank late = 0; late < 4; ++late) {
        Cursor cursor(schedule);
        const auto run = [&](Rank self) {
            while (!cursor.finished(self)) {
                if (cursor.is_at_await(self) && !cursor.set_met(self)) return;
                if (cursor.pass_awaits(self) && cursor.finished(self)) return;
                const Operation& next = schedule.operations[cursor.next(self)];
                const bool last = cursor.come(next.cell) == cursor.episode(self) * next.share;
                cursor.go_on(self, next.kind == Operation::Kind::meet && !last ? 1 + next.skip : 1);
            }
        };
        for (Episode episode = 1; episode <= 3; ++episode) {
            for (Rank self = 0; self < 4; ++self)
                if (self != late) cursor.enter(self), run(self);
            for (Rank self = 0; self < 4; ++self) run(self);
            for (Rank self = 0; self < 4; ++self) CHECK((self == late || !cursor.finished(self)));
            cursor.enter(late);
            for (int round = 0; round < 4; ++round)
                for (Rank self = 0; self < 4; ++self) run(self);
            for (Rank self = 0; self < 4; ++self) CHECK(cursor.finished(self));
        }
    }
}

TEST_CASE("what cannot be lowered is refused") {
    CHECK(refusal_of("!1\n", 0) == "plan 'odd': rank 0 has a step to rank 1");
    CHECK(refusal_of("!0 ?0\n", 0) == "plan 'odd': rank 0 has a step to rank 0");
    CHECK(refusal_of("!a ?a\n", 0) == "plan 'odd': rank 0 has a step to role a");
    CHECK(refusal_of("!1\n?0 ?0", 0) == "plan 'odd' uses a channel twice");
    CHECK(refusal_of("!1 !1\n?0", 1) == "plan 'odd' uses a channel twice");
    CHECK(refusal_of("!1\n!0", 0) == "plan 'odd' has a signal without await, or an await without signal");
    CHECK(refusal_of("?1\n?0", 0) == "plan 'odd' has a signal without await, or an await without signal");
    CHECK(refusal_of("!a ?1\n!0 ?a\na: ?0 !1", 0) == "plan 'odd': nobody plays role a");
}

TEST_CASE("roles that wait for each other are refused") {
    const std::string words = "!c ?c\na: ?c ?b !b ?b !c !b\nb: ?a !a ?a !a\nc: ?0 !a ?a !0";
    CHECK(refusal_of(words, 0) == "plan 'odd': nobody plays role a");
}

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
