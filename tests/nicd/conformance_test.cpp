// SPDX-License-Identifier: Apache-2.0
// Ranks whose barrier runs on their NICs have the properties every transport must have, in fine weather and in a
// storm.
#include "nic_harness.hpp"
#include "storm_on_wires.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <latch>
#include <numeric>
#include <random>
#include <thread>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;

namespace {

constexpr Rank most = 17;
const std::vector<std::string> none;

/// Made once: starting daemons is most of the work.
struct Network {
    Hosts hosts{most};
    Daemons daemons{hosts};
};

Network* network() {
    static const std::string why_not = no_hosts();
    static const std::unique_ptr<Network> made = why_not.empty() ? std::make_unique<Network>() : nullptr;
    if (!made) MESSAGE("skipped: ", why_not);
    return made.get();
}

std::string ports_of(const Hosts& hosts) {
    std::string all;
    for (Rank host = 0; host < hosts.count(); ++host) {
        if (host != 0) all += ',';
        all += hosts.port(host);
    }
    return all;
}

std::vector<std::string> complaints_of(const Network& here, Rank ranks, const std::string& plan) {
    NicHarness harness(nic_members(here.hosts, here.daemons, ranks, plan));
    return complaints(harness, {ranks - 1}, {.episodes = 8, .late_every = 4, .mixed = true});
}

/// Episodes in the storm: TOLLBAR_STORM_EPISODES, or what is over in a few seconds.
std::uint32_t storm_episodes() {
    const char* asked = std::getenv("TOLLBAR_STORM_EPISODES");
    return asked != nullptr ? static_cast<std::uint32_t>(std::atoi(asked)) : 200;
}

}  // namespace

TEST_CASE("ranks on NICs conform, however many they are") {
    const Network* here = network();
    if (here == nullptr) return;
    for (Rank ranks = 2; ranks <= most; ++ranks) {
        CAPTURE(ranks);
        CHECK(complaints_of(*here, ranks, "pairwise") == none);
    }
}

TEST_CASE("ranks on NICs conform, whatever the NICs run") {
    const Network* here = network();
    if (here == nullptr) return;
    const nic::Switch counting(ports_of(here->hosts), nic::Mode::generic, switch_key);
    for (const char* plan : {"dissemination:2", "mcs", "central", "card:gather", "switch"})
        for (const Rank ranks : {3U, 8U, 17U}) {
            if (std::string_view(plan) == "central" && ranks > 8) continue;  // more steps than a NIC runs
            CAPTURE(plan);
            CAPTURE(ranks);
            CHECK(complaints_of(*here, ranks, plan) == none);
        }
}

TEST_CASE("ranks on NICs conform, however they wait") {
    const Network* here = network();
    if (here == nullptr) return;
    for (const tollbar_wait wait : {TOLLBAR_WAIT_PARK, TOLLBAR_WAIT_YIELD})
        for (const char* plan : {"pairwise", "gather"}) {
            CAPTURE(wait);
            CAPTURE(plan);
            NicHarness harness(nic_members(here->hosts, here->daemons, 5, plan, wait));
            CHECK(complaints(harness, {0, 4}, {.episodes = 8, .late_every = 2, .mixed = true}) == none);
        }
}

TEST_CASE("eight ranks in a storm never leave early and always come to an end") {
    const Network* here = network();
    if (here == nullptr) return;
    for (const char* plan : {"pairwise", "dissemination", "gather", "switch"}) {
        CAPTURE(plan);
        NicHarness harness(nic_members(here->hosts, here->daemons, 8, plan));
        const auto between = std::string_view(plan) == "switch" ? Between::counting_switch : Between::bridge;
        const StormOnWires storm(here->hosts, 8, {.lost = 200, .doubled = 200, .held = 200, .altered = 50}, between);
        harness.run({.episodes = storm_episodes(), .late_every = 0, .mixed = true});
        CHECK(harness.unpaid() == 0);
        CHECK(storm.altered() > 0);
        CHECK(storm.held() > 0);
    }
}

TEST_CASE("sixty-four groups of four run at the same time, all of them in each process") {
    const Network* here = network();
    if (here == nullptr) return;
    constexpr Rank ranks = 4;
    constexpr std::size_t groups = 64;
    constexpr Episode episodes = 20;
    std::vector<std::vector<NicMember>> members;
    for (std::size_t group = 0; group < groups; ++group)
        members.push_back(nic_members(here->hosts, here->daemons, ranks, group % 2 == 0 ? "pairwise" : "gather"));
    std::vector<std::array<std::array<Episode, ranks>, 2>> tolls(groups);
    std::array<int, ranks> unpaid{};
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            std::mt19937 random(rank);
            std::vector<std::size_t> order(groups);
            std::iota(order.begin(), order.end(), 0);
            for (Episode episode = 1; episode <= episodes; ++episode) {
                std::ranges::shuffle(order, random);
                for (const std::size_t group : order) {
                    tolls[group][episode % 2][rank] = episode;
                    members[group][rank].arrive();
                }
                std::ranges::shuffle(order, random);
                for (const std::size_t group : order) {
                    members[group][rank].wait();
                    for (const Episode toll : tolls[group][episode % 2]) unpaid[rank] += toll != episode;
                }
            }
        });
    threads.clear();
    CHECK(unpaid == std::array<int, ranks>{});
}

TEST_CASE("sixteen members join side by side, and how long that takes is said") {
    const Network* here = network();
    if (here == nullptr) return;
    constexpr Rank ranks = 16;
    std::vector<const char*> addresses;
    for (Rank rank = 0; rank < ranks; ++rank) {
        addresses.push_back(here->hosts.address(rank).c_str());
        here->hosts.enter(rank);
        std::system("ip neighbour flush dev eth0");  // whoever sets up a job has not met the others
        here->hosts.back();
    }
    std::array<int, ranks> results;
    std::latch ready(ranks + 1);
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            tollbar_nic_group group{.key = {}, .id = 1, .rank = rank, .ranks = ranks, .hosts = addresses.data()};
            set_key(group, a_key + 1, 1);
            const std::string socket = here->daemons.socket(rank);
            tollbar_nic_options options{};
            options.daemon = socket.c_str();
            options.only_nic = 1;
            tollbar_nic* member = nullptr;
            here->hosts.enter(rank);
            ready.arrive_and_wait();
            results[rank] = tollbar_nic_join(&group, &options, &member);
            if (results[rank] == 0) results[rank] = tollbar_nic_arrive_and_wait(member);
            tollbar_nic_leave(member);
        });
    ready.arrive_and_wait();
    const auto began = std::chrono::steady_clock::now();
    threads.clear();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    CHECK(results == std::array<int, ranks>{});
    MESSAGE("a group of sixteen joined and met once in ", took.count(), " ms");
}
