// SPDX-License-Identifier: Apache-2.0
// The suite for transports, tested on a transport that obeys: it accepts what is sound and only that.
#include "replay.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;

namespace {

std::vector<Rank> all_ranks(Rank ranks) {
    std::vector<Rank> all(ranks);
    for (Rank rank = 0; rank < ranks; ++rank) all[rank] = rank;
    return all;
}

std::vector<std::string> complaints_about(const Plan& plan, Wire::Script script) {
    Replay replay(plan, std::move(script));
    return complaints(replay, all_ranks(plan.ranks()), {.episodes = 20, .late_every = 1, .mixed = false});
}

std::vector<std::string> complaints_about(const Plan& plan) {
    return complaints_about(plan, [](const Wire::Message&) { return Wire::Fate{}; });
}

const std::vector<std::string> none;

}  // namespace

TEST_CASE("the suite accepts every family of the catalogue") {
    for (const Algorithm& algorithm : catalogue())
        for (const Rank ranks : {1U, 2U, 3U, 5U, 8U, 13U}) {
            CAPTURE(algorithm.name);
            CAPTURE(ranks);
            CHECK(complaints_about(make_plan(algorithm.name, ranks)) == none);
        }
}

TEST_CASE("the suite accepts a transport that repeats, delays and reorders messages") {
    for (const Algorithm& algorithm : catalogue()) {
        CAPTURE(algorithm.name);
        std::uint32_t random = 1;
        const auto script = [&](const Wire::Message&) {
            random = random * 1664525 + 1013904223;
            return Wire::Fate{.copies = 1 + (random >> 16) % 3, .delay = (random >> 20) % 5};
        };
        CHECK(complaints_about(make_plan(algorithm.name, 8), script) == none);
    }
}

TEST_CASE("the suite accepts plans of two levels, with roles and without") {
    for (const char* plan : {"turnstile@3/dissemination", "combination:3/tournament", "central@2/turnstile"})
        for (const Rank ranks : {1U, 2U, 7U, 12U}) {
            CAPTURE(plan);
            CAPTURE(ranks);
            CHECK(complaints_about(make_plan(plan, ranks)) == none);
        }
}

TEST_CASE("the suite objects to a barrier that does nothing") {
    const auto found = complaints_about(parse_plan("nothing", "0:\n1:\n2:"));
    CHECK(std::ranges::count(found, "with rank 1 late: a test lets nobody go") == 1);
    CHECK(std::ranges::count(found, "with rank 1 late: all tolls are paid") == 1);
}

TEST_CASE("the suite objects to a barrier that skips a round, whichever") {
    const Plan plan = make_plan("dissemination", 8);
    for (std::size_t skipped = 0; skipped < 3; ++skipped) {
        const Plan short_of_one("short", 8, [=](Rank self) {
            Program program = plan.program(self);  // three rounds of one signal and one await
            program.erase(program.begin() + static_cast<std::ptrdiff_t>(2 * skipped),
                          program.begin() + static_cast<std::ptrdiff_t>(2 * skipped + 2));
            return program;
        });
        CAPTURE(skipped);
        CHECK(complaints_about(short_of_one) != none);
    }
}

TEST_CASE("the suite objects to a root that releases before it has gathered") {
    CHECK(complaints_about(parse_plan("early", "0: !1 !2 ?1 ?2\n1: !0 ?0\n2: !0 ?0")) != none);
    CHECK(complaints_about(parse_plan("sound", "0: ?1 ?2 !1 !2\n1: !0 ?0\n2: !0 ?0")) == none);
}

TEST_CASE("the suite objects to one rank that does not wait for one other") {
    const Plan plan = make_plan("central", 5);
    for (Rank unheard = 1; unheard < 5; ++unheard) {
        const Plan deaf("deaf", 5, [=](Rank self) {
            Program program = plan.program(self);
            if (self == 0) std::erase(program, await(unheard));
            if (self == unheard) std::erase(program, signal(0));
            return program;
        });
        CAPTURE(unheard);
        CHECK(complaints_about(deaf) != none);
    }
}

TEST_CASE("a message that is lost leaves the receiver waiting, and nobody is let go") {
    Replay replay(make_plan("dissemination", 2), [](const Wire::Message& message) {
        return Wire::Fate{.copies = message == Wire::Message{1, 0, 1} ? 0U : 1U};
    });
    replay.begin(0, Call::arrive_and_wait, 0);
    replay.begin(1, Call::arrive_and_wait, 0);
    CHECK(replay.ended(1));
    CHECK_FALSE(replay.ended(0));
    CHECK_THROWS_WITH(replay.end(0), "rank 0 waits for ever");
}
