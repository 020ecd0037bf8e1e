// SPDX-License-Identifier: Apache-2.0
// Who sits where in a plan whose groups stand for clusters.
#include "transports/words/slots.hpp"
#include "transports/words/segment.hpp"

#include "toll.hpp"
#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;

namespace {

Clusters clusters(std::uint32_t count) {
    Clusters found;
    for (std::uint32_t number = 0; number < count; ++number) found.all.push_back({number, 8, 8});
    return found;
}

/// The group of each rank, where rank r comes from that cluster.
std::vector<Rank> groups_of(const std::vector<std::uint32_t>& cluster_of, const SlotGroups& slot_groups,
                            std::uint32_t clusters_there) {
    std::vector<Slot> slots(cluster_of.size());
    std::vector<Rank> groups;
    for (Rank rank = 0; rank < cluster_of.size(); ++rank)
        groups.push_back(
            slot_groups.group_of(take_slot(slots, slot_groups, rank, cluster_of[rank], clusters(clusters_there))));
    return groups;
}

}  // namespace

TEST_CASE("ranks of a cluster sit in a group, in whatever order they come") {
    const std::vector<Rank> alternating{0, 1, 0, 1, 0, 1};
    CHECK(groups_of({0, 1, 0, 1, 0, 1}, {.groups = 2, .neighbours = 3}, 2) == alternating);
    CHECK(groups_of({0, 1, 0, 1, 0, 1}, {.groups = 2}, 2) == alternating);
    CHECK(groups_of({1, 0, 1, 0, 1, 0}, {.groups = 2, .neighbours = 3}, 2) == std::vector<Rank>{1, 0, 1, 0, 1, 0});
}

TEST_CASE("groups in order are clusters in order, wherever these begin") {
    CHECK(groups_of({3, 2, 1, 0}, {.groups = 4}, 4) == std::vector<Rank>{3, 2, 1, 0});
    CHECK(groups_of({0, 4, 2, 6}, {.groups = 4}, 8) == std::vector<Rank>{0, 2, 1, 3});
}

TEST_CASE("who finds the own group full sits elsewhere") {
    CHECK(groups_of({0, 0, 0, 1}, {.groups = 2, .neighbours = 2}, 2) == std::vector<Rank>{0, 0, 1, 1});
    CHECK(groups_of({5, 5, 5}, {.groups = 3, .neighbours = 1}, 8) == std::vector<Rank>{1, 2, 0});
}

TEST_CASE("a rank keeps its slot wherever it comes back from") {
    std::vector<Slot> slots(4);
    const SlotGroups slot_groups{.groups = 2, .neighbours = 2};
    const Rank slot = take_slot(slots, slot_groups, 3, 1, clusters(2));
    take_slot(slots, slot_groups, 0, 1, clusters(2));
    CHECK(take_slot(slots, slot_groups, 3, 0, clusters(2)) == slot);
}

TEST_CASE("ranks that come at once all have a slot of their own") {
    constexpr Rank ranks = 8;
    for (int again = 0; again < 50; ++again) {
        std::vector<Slot> slots(ranks);
        std::vector<Rank> slot_of(ranks);
        {
            std::vector<std::jthread> threads;
            for (Rank rank = 0; rank < ranks; ++rank)
                threads.emplace_back([&, rank] {
                    slot_of[rank] = take_slot(slots, {.groups = 3, .neighbours = 3}, rank, rank % 3, clusters(3));
                });
        }
        CHECK(std::set<Rank>(slot_of.begin(), slot_of.end()).size() == ranks);
    }
}

TEST_CASE("a group whose ranks take slots is a barrier, in one process and between several") {
    for (const char* plan : {"combination:3/dissemination:2", "turnstile@3/dissemination:2", "turnstile@3/pairwise"}) {
        constexpr Rank ranks = 8;
        CAPTURE(plan);
        const std::string name = "slots." + std::to_string(getpid());
        const SlotGroups slot_groups{.groups = 3, .neighbours = plan[0] == 't' ? 3U : 0U};
        const Segment made(name,
                           {.layout = lay_out(make_plan(plan, ranks)),
                            .plan = plan,
                            .ranks = ranks,
                            .scope = Scope::shared,
                            .slot_groups = slot_groups},
                           false);
        ProcessHarness harness(group::open(name, ranks, {.plan = plan}));
        harness.run({.episodes = 200, .late_every = 2, .mixed = true});
        CHECK(harness.unpaid() == 0);
    }
}
