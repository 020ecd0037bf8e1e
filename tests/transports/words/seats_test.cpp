// SPDX-License-Identifier: Apache-2.0
// Who sits where in a plan whose groups stand for clusters.
#include "transports/words/seats.hpp"
#include "transports/words/segment.hpp"

#include "toll.hpp"
#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

using namespace tollbar;
using namespace tollbar::testing;

namespace {

Clusters clusters(std::uint32_t count) {
    Clusters found;
    for (std::uint32_t number = 0; number < count; ++number) found.all.push_back({number, 8, 8});
    return found;
}

/// The group of each rank, where rank r comes from that cluster.
std::vector<Rank> groups_of(const std::vector<std::uint32_t>& cluster_of, const Seating& seating,
                            std::uint32_t clusters_there) {
    std::vector<Seat> seats(cluster_of.size());
    std::vector<Rank> groups;
    for (Rank rank = 0; rank < cluster_of.size(); ++rank)
        groups.push_back(seating.group_of(take_seat(seats, seating, rank, cluster_of[rank], clusters(clusters_there))));
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

TEST_CASE("a rank keeps its seat wherever it comes back from") {
    std::vector<Seat> seats(4);
    const Seating seating{.groups = 2, .neighbours = 2};
    const Rank seat = take_seat(seats, seating, 3, 1, clusters(2));
    take_seat(seats, seating, 0, 1, clusters(2));
    CHECK(take_seat(seats, seating, 3, 0, clusters(2)) == seat);
}

TEST_CASE("ranks that come at once all have a seat of their own") {
    constexpr Rank ranks = 8;
    for (int again = 0; again < 50; ++again) {
        std::vector<Seat> seats(ranks);
        std::vector<Rank> seat_of(ranks);
        {
            std::vector<std::jthread> threads;
            for (Rank rank = 0; rank < ranks; ++rank)
                threads.emplace_back([&, rank] {
                    seat_of[rank] = take_seat(seats, {.groups = 3, .neighbours = 3}, rank, rank % 3, clusters(3));
                });
        }
        CHECK(std::set<Rank>(seat_of.begin(), seat_of.end()).size() == ranks);
    }
}

TEST_CASE("a group whose ranks take seats is a barrier, in one process and between several") {
    for (const char* plan : {"combination:3/dissemination:2", "turnstile@3/dissemination:2", "turnstile@3/pairwise"}) {
        constexpr Rank ranks = 8;
        CAPTURE(plan);
        const std::string name = "seats." + std::to_string(getpid());
        const Seating seating{.groups = 3, .neighbours = plan[0] == 't' ? 3U : 0U};
        const Segment made(name,
                           {.layout = lay_out(make_plan(plan, ranks)),
                            .plan = plan,
                            .ranks = ranks,
                            .scope = Scope::shared,
                            .seating = seating},
                           false);
        ProcessCompany company(group::open(name, ranks, {.plan = plan}));
        company.run({.episodes = 200, .late_every = 2, .mixed = true});
        CHECK(company.unpaid() == 0);
    }
}
