// SPDX-License-Identifier: Apache-2.0
#include "communicator/agreement.hpp"

#include "local_p2p.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <thread>

using namespace tollbar;
using namespace tollbar::testing;

namespace {

/// Every rank agrees in a thread of its own, with its own plan and host.
std::vector<mpi::Agreement> agreed(const std::vector<const char*>& plans, const std::vector<const char*>& hosts) {
    const auto ranks = static_cast<std::uint32_t>(plans.size());
    LocalWorld world(ranks);
    std::vector<mpi::Agreement> all(ranks);
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            LocalWorld::Seat seat{.world = &world, .rank = rank};
            const tollbar_p2p p2p = world.p2p(seat);
            tollbar_mpi_options options{};
            options.plan = plans[rank];
            options.host = hosts[rank];
            options.budget_ms = -1;
            all[rank] = mpi::agree(p2p, options);
        });
    for (std::thread& thread : threads) thread.join();
    return all;
}

}  // namespace

TEST_CASE("everybody knows who shares a node, and the lowest rank of each leads") {
    const auto all = agreed({"mcs", "mcs", "mcs", "mcs", "mcs"}, {"a", "b", "a", "c", "b"});
    for (const mpi::Agreement& one : all) {
        CHECK(one.terms.nodes == 3);
        CHECK(one.node_of == std::vector<Rank>{0, 1, 0, 2, 1});
        CHECK(one.leaders == std::vector<Rank>{0, 1, 3});
    }
    CHECK(all[2].here == std::vector<Rank>{0, 2});
    CHECK(all[2].place == 1);
    CHECK(all[4].here == std::vector<Rank>{1, 4});
}

TEST_CASE("nodes that meet on their cards do so under a key of 128 bits that no other communicator has") {
    std::vector<mpi::Introduction> both(2);
    for (Rank rank = 0; rank < 2; ++rank) {
        both[rank].node = rank + 1;
        both[rank].network = {.told = TOLLBAR_NETWORK_NIC, .address = rank + 1, .error = 0};
    }
    std::set<std::uint64_t> halves;
    for (int communicator = 0; communicator < 100; ++communicator) {
        const mpi::Terms terms = mpi::rule(both, {}).terms;
        CHECK(terms.has_cards());
        halves.insert({terms.key.low, terms.key.high});
    }
    CHECK(halves.size() == 200);
    CHECK(!halves.contains(0));
}

TEST_CASE("only ranks that share a node get memory, and the same") {
    const auto all = agreed({"mcs", "mcs", "mcs"}, {"a", "a", "b"});
    CHECK(all[0].arena != nullptr);
    CHECK(all[0].arena->id() == all[1].arena->id());
    CHECK(all[2].arena == nullptr);
}

TEST_CASE("a second communicator uses the memory of the first") {
    const auto first = agreed({"mcs", "mcs"}, {"a", "a"});
    const auto second = agreed({"mcs", "mcs"}, {"a", "a"});
    CHECK(second[0].arena == first[0].arena);
    CHECK(second[0].terms.ticket != first[0].terms.ticket);
}

TEST_CASE("the plan that all ask for is taken") {
    for (const mpi::Agreement& one : agreed({"mcs:2,2", "mcs:2,2"}, {"a", "b"}))
        CHECK(std::string(one.terms.plan) == "mcs:2,2");
}

TEST_CASE("ranks that ask for different plans get none of them") {
    for (const mpi::Agreement& one : agreed({"mcs", "central"}, {"a", "a"})) CHECK(one.terms.plan[0] == '\0');
}

TEST_CASE("a plan that nobody can run is not taken") {
    for (const char* plan : {"foo", "turnstile/foo", "dissemination:99", "turnstiles"})
        for (const mpi::Agreement& one : agreed({plan, plan}, {"a", "b"})) CHECK(one.terms.plan[0] == '\0');
}

TEST_CASE("tickets of communicators that draw neighbouring numbers keep apart") {
    std::set<std::uint64_t> all;
    std::size_t drawn = 0;
    for (std::uint64_t ticket : {std::uint64_t{0}, std::uint64_t{1} << 32, std::uint64_t{256}, ~std::uint64_t{0}}) {
        mpi::Terms terms{};
        terms.ticket = ticket;
        for (Rank node = 0; node < 1000; ++node)
            for (const unsigned number : {0U, 1U, 2U, 255U}) {
                const std::uint64_t one = mpi::ticket_of(terms, node, static_cast<std::uint8_t>(number));
                CHECK((one != 0 && ~one != 0));
                all.insert(one);
                ++drawn;
            }
    }
    CHECK(all.size() == drawn);
}
