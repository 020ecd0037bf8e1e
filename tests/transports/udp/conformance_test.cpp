// SPDX-License-Identifier: Apache-2.0
// Ranks that meet over UDP have the properties every transport must have, in fine weather and in storms.
#include "harness.hpp"

#include "base/environment.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <cstdlib>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;
using namespace std::chrono_literals;

namespace {

const std::vector<std::string> none;

std::vector<std::string> spellings() {
    std::vector<std::string> all;
    for (const Algorithm& algorithm : catalogue())
        if (algorithm.runs_everywhere()) all.emplace_back(algorithm.name);
    for (const char* more : {"dissemination:2", "mcs:2,3", "central@2/dissemination"}) all.emplace_back(more);
    return all;
}

std::vector<Rank> lates(Rank ranks) { return ranks > 1 ? std::vector<Rank>{0, ranks - 1} : std::vector<Rank>{0}; }

/// A fifth lost, a fifth twice, a fifth overtaken, one in twenty altered.
constexpr Weather storm{.lost = 200, .doubled = 200, .held = 200, .altered = 50};

/// Frames on the loopback take microseconds; waiting a millisecond for each lost one would be most of the test.
constexpr UdpTiming hasty{.again = 100us, .rarest = 1ms, .linger = 20ms};

/// Episodes of the long run: TOLLBAR_STORM_EPISODES, or what is over in a few seconds.
std::uint32_t storm_episodes() {
    const char* asked = std::getenv("TOLLBAR_STORM_EPISODES");
    return asked != nullptr ? static_cast<std::uint32_t>(std::atoi(asked)) : 1500;
}

}  // namespace

TEST_CASE("ranks over UDP conform, whatever they run and however they wait") {
    for (const Rank ranks : {1U, 2U, 3U, 5U, 8U})
        for (const std::string& plan : spellings())
            for (const wait_policy wait : {wait_policy::automatic, wait_policy::park, wait_policy::yield}) {
                CAPTURE(ranks);
                CAPTURE(plan);
                CAPTURE(name_of(wait));
                if (wait != wait_policy::park && ranks > 3 && plan != "dissemination") continue;
                LoopbackHarness harness(members(make_plan(plan, ranks), {.key = a_key, .wait = wait, .linger = 50ms}));
                CHECK(complaints(harness, lates(ranks), {.episodes = 8, .late_every = 1, .mixed = true}) == none);
            }
}

TEST_CASE("any number of hosts conforms") {
    for (Rank ranks = 2; ranks <= 17; ++ranks)
        for (const char* plan : {"dissemination", "pairwise"}) {
            CAPTURE(ranks);
            CAPTURE(plan);
            LoopbackHarness harness(members(make_plan(plan, ranks), {.key = a_key, .linger = 50ms}));
            CHECK(complaints(harness, lates(ranks), {.episodes = 4, .late_every = 2, .mixed = true}) == none);
        }
}

TEST_CASE("a pair that spins conforms") {
    LoopbackHarness harness(members(make_plan("pairwise", 2), {.key = a_key, .wait = wait_policy::spin}));
    CHECK(complaints(harness, lates(2), {.episodes = 8, .late_every = 1, .mixed = true}) == none);
}

TEST_CASE("ranks in a storm conform, also where episodes wrap") {
    for (const Episode before : {Episode{0}, (Episode{1} << 32) - 5, (Episode{1} << 56) - 5, ~Episode{0} - 4})
        for (const char* plan : {"dissemination", "pairwise", "mcs", "central"}) {
            CAPTURE(before);
            CAPTURE(plan);
            LoopbackHarness harness(members_in_a_storm(make_plan(plan, 3), storm, before, hasty));
            CHECK(complaints(harness, lates(3), {.episodes = 20, .late_every = 4, .mixed = true}) == none);
        }
}

TEST_CASE("eight ranks in a storm never leave early and always come to an end") {
    for (const char* plan : {"dissemination", "tournament"}) {
        CAPTURE(plan);
        LoopbackHarness harness(members_in_a_storm(make_plan(plan, 8), storm, 0, hasty));
        harness.run({.episodes = storm_episodes(), .late_every = 0, .mixed = false});
        CHECK(harness.unpaid() == 0);
    }
}
