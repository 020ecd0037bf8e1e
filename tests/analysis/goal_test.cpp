// SPDX-License-Identifier: Apache-2.0
#include "analysis/draw.hpp"

#include <tollbar/algorithms.hpp>

#include "refusal.hpp"

#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>
#include <tuple>

using namespace tollbar;
using namespace tollbar::detail;

TEST_CASE("a plan of two ranks is GOAL text") {
    CHECK(to_goal(make_plan("central", 2)) == R"(num_ranks 2

rank 0 {
l1: recv 1b from 1 tag 0
l2: send 1b to 1 tag 1
l2 requires l1
}

rank 1 {
l1: send 1b to 0 tag 0
l2: recv 1b from 0 tag 1
l2 requires l1
}
)");
}

TEST_CASE("a set of awaits is one step: all of it requires the step before, and the step after all of it") {
    CHECK(to_goal(parse_plan("set", "0: !2 ?1 ?2 !1\n1: !0 ?0\n2: ?0 !0")).starts_with(R"(num_ranks 3

rank 0 {
l1: send 1b to 2 tag 0
l2: recv 1b from 1 tag 0
l3: recv 1b from 2 tag 1
l2 requires l1
l3 requires l1
l4: send 1b to 1 tag 3
l4 requires l2
l4 requires l3
}
)"));
}

TEST_CASE("roles are the ranks after the plan's own") {
    CHECK(to_goal(make_plan("turnstile", 2)) == R"(num_ranks 3

rank 0 {
l1: send 1b to 2 tag 0
l2: recv 1b from 2 tag 2
l2 requires l1
}

rank 1 {
l1: send 1b to 2 tag 0
l2: recv 1b from 2 tag 3
l2 requires l1
}

rank 2 {
l1: recv 1b from 0 tag 0
l2: recv 1b from 1 tag 0
l3: send 1b to 0 tag 2
l3 requires l1
l3 requires l2
l4: send 1b to 1 tag 3
l4 requires l3
}
)");
}

TEST_CASE("both ends of every message bear the same tag, and no channel is used twice") {
    for (const Algorithm& algorithm : catalogue()) {
        std::istringstream goal(to_goal(make_plan(algorithm.name, 11)));
        std::map<std::tuple<std::string, std::string, std::string>, int> ends;  // from, to, tag
        std::string rank;
        for (std::string line; std::getline(goal, line);) {
            std::istringstream words(line);
            std::string label, kind, bytes, preposition, peer, tag;
            words >> label >> kind;
            if (label == "rank") rank = kind;
            if (kind != "send" && kind != "recv") continue;
            words >> bytes >> preposition >> peer >> tag >> tag;
            CHECK(bytes == "1b");
            CHECK(preposition == (kind == "send" ? "to" : "from"));
            ends[kind == "send" ? std::tuple(rank, peer, tag) : std::tuple(peer, rank, tag)] += kind == "send" ? 1 : 10;
        }
        CHECK_FALSE(ends.empty());
        for (const auto& [channel, both] : ends) CHECK(both == 11);
    }
}

TEST_CASE("a plan whose messages do not meet has no GOAL, and the reason is given") {
    CHECK(refusal([] { (void)to_goal(parse_plan("mine", "0: !1\n1:")); }) ==
          "plan 'mine' has no GOAL: rank 0 signals rank 1, which never awaits it");
}
