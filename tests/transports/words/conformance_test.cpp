// SPDX-License-Identifier: Apache-2.0
// Threads and processes have the properties every transport must have.
#include "toll.hpp"

#include "base/environment.hpp"

#include <tollbar/detail/cpus.hpp>

#include <doctest/doctest.h>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;

namespace {

std::vector<Rank> lates(wait_policy policy, Rank ranks) {
    if (gets_on_slowly(policy, ranks)) return {ranks / 2};
    std::vector<Rank> lates{0};
    if (ranks > 2) lates.push_back(ranks / 2);
    if (ranks > 1) lates.push_back(ranks - 1);
    return lates;
}

FreeRun free_run(wait_policy policy, Rank ranks) {
    return {.episodes = gets_on_slowly(policy, ranks) ? 1U : 8U, .late_every = 1, .mixed = true};
}

const std::vector<std::string> none;

}  // namespace

TEST_CASE("threads conform, whatever they run and however they wait") {
    for (const Rank ranks : all_sizes)
        for (const std::string& plan : spellings(ranks))
            for (const wait_policy wait : all_policies) {
                CAPTURE(ranks);
                CAPTURE(plan);
                CAPTURE(name_of(wait));
                if ((gets_on_slowly(wait, ranks) || ranks > 8) && plan.find(':') != plan.npos) continue;
                ThreadHarness harness(group(ranks, {.plan = plan, .wait = wait}));
                CHECK(complaints(harness, lates(wait, ranks), free_run(wait, ranks)) == none);
            }
}

TEST_CASE("processes that share a group by fork conform") {
    for (const Rank ranks : {2U, 5U, 13U})
        for (const std::string& plan : spellings(ranks))
            for (const wait_policy wait : {wait_policy::automatic, wait_policy::park}) {
                CAPTURE(ranks);
                CAPTURE(plan);
                CAPTURE(name_of(wait));
                if ((slowness > 1 || ranks > 5) && plan.find(':') != plan.npos) continue;
                ProcessHarness harness(group(ranks, {.plan = plan, .wait = wait, .scope = Scope::shared}));
                CHECK(complaints(harness, lates(wait, ranks), free_run(wait, ranks)) == none);
            }
}

TEST_CASE("processes that open a group by name conform") {
    const std::string name = "conformance." + std::to_string(getpid());
    for (const char* plan : {"turnstile", "combination:2", "dissemination", "mcs", "central@2/dissemination"})
        for (const wait_policy wait : all_policies) {
            CAPTURE(plan);
            CAPTURE(name_of(wait));
            ProcessHarness harness(3, [&](Rank rank, Board& board) {
                group group = group::open(name, 3, {.plan = plan, .wait = wait});
                serve(group, board, rank);
            });
            CHECK(complaints(harness, lates(wait, 3), free_run(wait, 3)) == none);
        }
}
