// SPDX-License-Identifier: Apache-2.0
// Ranks whose barrier runs on their cards have the properties every transport must have, in fine weather and in a
// storm.
#include "card_company.hpp"
#include "storm_on_wires.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

using namespace tollbar;
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
    for (Rank host = 0; host < hosts.count(); ++host) all += (host == 0 ? "" : ",") + hosts.port(host);
    return all;
}

std::vector<std::string> complaints_of(const Network& here, Rank ranks, const std::string& plan) {
    CardCompany company(card_members(here.hosts, here.daemons, ranks, plan));
    return complaints(company, {ranks - 1}, {.episodes = 8, .late_every = 4, .mixed = true});
}

/// Episodes in the storm: TOLLBAR_STORM_EPISODES, or what is over in a few seconds.
std::uint32_t storm_episodes() {
    const char* asked = std::getenv("TOLLBAR_STORM_EPISODES");
    return asked != nullptr ? static_cast<std::uint32_t>(std::atoi(asked)) : 100;
}

}  // namespace

TEST_CASE("ranks on cards conform, however many they are") {
    const Network* here = network();
    if (here == nullptr) return;
    for (Rank ranks = 2; ranks <= most; ++ranks) {
        CAPTURE(ranks);
        CHECK(complaints_of(*here, ranks, "pairwise") == none);
    }
}

TEST_CASE("ranks on cards conform, whatever the cards run") {
    const Network* here = network();
    if (here == nullptr) return;
    const nic::Switch counting(ports_of(here->hosts), nic::Mode::generic);
    for (const char* plan : {"dissemination:2", "mcs", "central", "gather", "switch"})
        for (const Rank ranks : {3U, 8U, 17U}) {
            if (std::string_view(plan) == "central" && ranks > 8) continue;  // more steps than a card runs
            CAPTURE(plan);
            CAPTURE(ranks);
            CHECK(complaints_of(*here, ranks, plan) == none);
        }
}

TEST_CASE("eight ranks in a storm never leave early and always come to an end") {
    const Network* here = network();
    if (here == nullptr) return;
    for (const char* plan : {"pairwise", "dissemination", "gather", "switch"}) {
        CAPTURE(plan);
        CardCompany company(card_members(here->hosts, here->daemons, 8, plan));
        const auto between = std::string_view(plan) == "switch" ? Between::counting_switch : Between::bridge;
        const StormOnWires storm(here->hosts, 8, {.lost = 200, .doubled = 200, .held = 200, .altered = 50}, between);
        company.run({.episodes = storm_episodes(), .late_every = 0, .mixed = true});
        CHECK(company.unpaid() == 0);
        CHECK(storm.altered() > 0);
        CHECK(storm.held() > 0);
    }
}

TEST_CASE("sixty-four groups of two run at the same time") {
    const Network* here = network();
    if (here == nullptr) return;
    std::vector<std::vector<CardMember>> groups;
    for (int group = 0; group < 64; ++group) groups.push_back(card_members(here->hosts, here->daemons, 2, "pairwise"));
    for (int episode = 0; episode < 10; ++episode) {
        for (auto& group : groups) group[0].arrive();
        for (auto& group : groups) CHECK_FALSE(group[0].test());
        for (auto& group : groups) group[1].arrive();
        for (auto& group : groups)
            for (CardMember& member : group) member.wait();
    }
}
