// SPDX-License-Identifier: Apache-2.0
// What the threads of a rank do around the barrier of the ranks, as a plan.
#include "doors/hybrid/team.hpp"

#include <tollbar/verify.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::hybrid;

TEST_CASE("the threads and all that is outside make a barrier, whatever the plan inside") {
    for (const char* inside : {"turnstile", "central", "mcs", "tournament", "combining:3", "dissemination", "pairwise",
                               "butterfly", "combination", "combination:2/mcs", "central@2/dissemination"})
        for (Rank threads = 1; threads <= 9; ++threads)
            for (const Messenger allowed : {Messenger::first_thread, Messenger::last_to_arrive}) {
                CAPTURE(inside);
                CAPTURE(threads);
                const TeamPlan team = team_plan(inside, threads, allowed);
                CHECK(team.plan.ranks() == threads + 1);
                CHECK(verify(team.plan).holds());
            }
}

TEST_CASE("a turnstile has its role go outside, which the last to arrive plays where it may") {
    const TeamPlan team = team_plan("turnstile", 3, Messenger::last_to_arrive);
    CHECK(to_text(team.plan) == "0: !a ?a\n1: !a ?a\n2: !a ?a\n3: !a ?a\na: ?0 ?1 ?2 !3 ?3 !0 !1 !2\n");
    CHECK(team.messenger == Messenger::last_to_arrive);
    CHECK(team_plan("turnstile", 3, Messenger::first_thread).messenger == Messenger::first_thread);
    CHECK(team_plan("turnstile", 1, Messenger::last_to_arrive).messenger == Messenger::first_thread);
    const TeamPlan in_clusters = team_plan("turnstile@4/turnstile", 12, Messenger::last_to_arrive);
    CHECK(in_clusters.messenger == Messenger::last_to_arrive);
    CHECK(verify(in_clusters.plan).holds());
    CHECK(team_plan("mcs", 3, Messenger::last_to_arrive).messenger == Messenger::first_thread);
}

TEST_CASE("a plan that does not turn runs to its end, and thread 0 goes outside") {
    const TeamPlan team = team_plan("dissemination", 3, Messenger::last_to_arrive);
    CHECK(to_text(team.plan) ==
          "0: !1 ?2 !2 ?1 !a ?a\n1: !2 ?0 !0 ?2 ?a\n2: !0 ?1 !1 ?0 ?a\n3: !a ?a\na: ?0 !3 ?3 !2 !1 !0\n");
    CHECK(team.messenger == Messenger::first_thread);
}

TEST_CASE("what is no plan inside is refused with what is accepted") {
    CHECK_THROWS_WITH_AS(team_plan("no such plan", 2, Messenger::last_to_arrive),
                         doctest::Contains("there is no algorithm 'no such plan'"), std::invalid_argument);
}
