// SPDX-License-Identifier: Apache-2.0
// Ten million episodes: before the barrier every rank pays its toll, after it every rank reads them all. A
// twentieth of that runs with sanitizers and under an emulator.
#include "toll.hpp"

#include "base/environment.hpp"

#include <tollbar/detail/cpus.hpp>

#include <cstdio>

#include <doctest/doctest.h>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;

namespace {

constexpr std::uint64_t all_episodes = 10'000'000 / slowness;

std::uint64_t episodes_so_far = 0;

void count_episodes(DeskHarness& harness, std::uint32_t episodes, std::uint16_t late_every, bool mixed) {
    harness.run({.episodes = episodes, .late_every = late_every, .mixed = mixed});
    CHECK(harness.unpaid() == 0);
    episodes_so_far += episodes;
}

/// Where ranks spin without a CPU each, or may when other programs need the CPUs: no variants, and few episodes.
std::uint32_t episodes_for(const std::string& plan, wait_policy wait, Rank ranks) {
    if (gets_on_slowly(wait, ranks)) return plan.find(':') == plan.npos ? 2 : 0;
    const std::uint32_t episodes = wait == wait_policy::spin ? 40 : ranks <= usable_cpus() ? 400 : ranks <= 5 ? 24 : 8;
    return std::max<std::uint32_t>(2, episodes / slowness);
}

}  // namespace

// Processes come first, while the one that forks them is small: under an emulator threads make it large.
TEST_CASE("processes pay all tolls") {
    for (const Rank ranks : all_sizes)
        for (const std::string& plan : spellings(ranks))
            for (const wait_policy wait : all_policies) {
                CAPTURE(ranks);
                CAPTURE(plan);
                CAPTURE(name_of(wait));
                const std::uint32_t episodes = episodes_for(plan, wait, ranks);
                if (episodes == 0 || (ranks > 5 && plan.find(':') != plan.npos)) continue;
                if (slowness > 1 && (plan.find(':') != plan.npos || wait == wait_policy::yield)) continue;
                ProcessHarness harness(group(ranks, {.plan = plan, .wait = wait, .scope = Scope::shared}));
                count_episodes(harness, episodes, 2, true);
            }
}

TEST_CASE("threads pay all tolls") {
    for (const Rank ranks : all_sizes)
        for (const std::string& plan : spellings(ranks))
            for (const wait_policy wait : all_policies) {
                CAPTURE(ranks);
                CAPTURE(plan);
                CAPTURE(name_of(wait));
                const std::uint32_t episodes = episodes_for(plan, wait, ranks);
                if (episodes == 0) continue;
                ThreadHarness harness(group(ranks, {.plan = plan, .wait = wait}));
                count_episodes(harness, episodes, 2, true);
            }
}

TEST_CASE("two ranks make up the rest of the ten million episodes") {
    const std::vector<std::string> plans = spellings(2);
    const std::uint64_t rest = all_episodes - std::min(all_episodes, episodes_so_far);
    const auto share = static_cast<std::uint32_t>(rest / plans.size() + 1);
    for (const std::string& plan : plans) {
        CAPTURE(plan);
        ThreadHarness harness(group(2, {.plan = plan, .wait = wait_policy::automatic}));
        count_episodes(harness, share, 4096, false);
    }
    std::printf("%llu episodes, all tolls paid\n", static_cast<unsigned long long>(episodes_so_far));
    CHECK(episodes_so_far >= all_episodes);
}
