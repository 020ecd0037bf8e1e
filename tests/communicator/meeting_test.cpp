// SPDX-License-Identifier: Apache-2.0
#include "communicator/meeting.hpp"

#include "local_p2p.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;

namespace {

/// Every rank meets the others in a thread of its own, with its own plan and host.
std::vector<mpi::Meeting> met(const std::vector<const char*>& plans, const std::vector<const char*>& hosts) {
    const auto ranks = static_cast<std::uint32_t>(plans.size());
    LocalWorld world(ranks);
    std::vector<mpi::Meeting> all(ranks);
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            LocalWorld::Seat seat{.world = &world, .rank = rank};
            const tollbar_p2p p2p = world.p2p(seat);
            tollbar_mpi_options options{};
            options.plan = plans[rank];
            options.host = hosts[rank];
            options.budget_ms = -1;
            const tollbar_mpi_options completed = mpi::completed(options);
            all[rank] = mpi::meet(mpi::SetUp(p2p, "", 0), completed);
        });
    for (std::thread& thread : threads) thread.join();
    return all;
}

}  // namespace

TEST_CASE("everybody knows who shares a node, and the lowest rank of each leads") {
    const auto all = met({"mcs", "mcs", "mcs", "mcs", "mcs"}, {"a", "b", "a", "c", "b"});
    for (const mpi::Meeting& one : all) {
        CHECK(one.decision.nodes == 3);
        CHECK(one.decision.node_of == std::vector<Rank>{0, 1, 0, 2, 1});
        CHECK(one.leaders == std::vector<Rank>{0, 1, 3});
    }
    CHECK(all[2].here == std::vector<Rank>{0, 2});
    CHECK(all[2].index == 1);
    CHECK(all[4].here == std::vector<Rank>{1, 4});
}

TEST_CASE("only ranks that share a node get memory, and the same") {
    const auto all = met({"mcs", "mcs", "mcs"}, {"a", "a", "b"});
    CHECK(all[0].arena != nullptr);
    CHECK(all[0].arena->id() == all[1].arena->id());
    CHECK(all[2].arena == nullptr);
}

TEST_CASE("a second communicator uses the memory of the first") {
    const auto first = met({"mcs", "mcs"}, {"a", "a"});
    const auto second = met({"mcs", "mcs"}, {"a", "a"});
    CHECK(second[0].arena == first[0].arena);
    CHECK(second[0].decision.ticket != first[0].decision.ticket);
}

TEST_CASE("the plan that all ask for is taken") {
    for (const mpi::Meeting& one : met({"mcs:2,2", "mcs:2,2"}, {"a", "b"}))
        CHECK(std::string(one.decision.plan) == "mcs:2,2");
}

TEST_CASE("ranks that ask for different plans get none of them") {
    for (const mpi::Meeting& one : met({"mcs", "central"}, {"a", "a"})) CHECK(one.decision.plan[0] == '\0');
}

TEST_CASE("a plan that nobody can run is not taken") {
    for (const char* plan : {"foo", "turnstile/foo", "dissemination:99", "turnstiles"})
        for (const mpi::Meeting& one : met({plan, plan}, {"a", "b"})) CHECK(one.decision.plan[0] == '\0');
}
