// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-udp: barriers between hosts by datagrams, side by side; 10,000 consecutive ones in a batch.
#include "nics.hpp"

#include "base/environment.hpp"

#include <tollbar/algorithms.hpp>

#include <random>
#include <stdexcept>

namespace tollbar::bench {

namespace {

/// A group of a job of its own, so that what is left of the candidate before says nothing to it.
class UdpBarrier {
public:
    struct Seat {
        udp_participant self;
        void episode() noexcept { self.arrive_and_wait(); }
    };

    UdpBarrier(const std::shared_ptr<const Network>& network, const Plan& plan, wait_policy wait)
        : plan_(plan), options_{.key = key(), .wait = wait} {
        for (Rank rank = 0; rank < plan.ranks(); ++rank) {
            endpoints_.push_back(network->endpoint(rank));
            addresses_.push_back(endpoints_.back().address());
        }
    }

    Seat seat(Rank rank) { return {udp_participant(std::move(endpoints_[rank]), plan_, rank, addresses_, options_)}; }

private:
    static std::uint64_t key() {
        std::random_device device;
        return std::uint64_t{device()} << 32 | device();
    }

    Plan plan_;
    udp_options options_;
    std::vector<udp_endpoint> endpoints_;
    std::vector<std::string> addresses_;
};

/// One plan; false when it cannot be spelled so, or not for that many ranks.
bool add_udp_plan(Roster& roster, Rank ranks, const std::shared_ptr<const Network>& network,
                  const std::string& spelling, const std::string& wait) try {
    const auto policy = wait_policy_named(wait);
    if (!policy || !runs_on(spelling).empty()) return false;
    const Plan plan = make_plan(spelling, ranks);
    const Manners manners = wait == "spin" ? Manners::spins : Manners::gives_way;
    roster.add<UdpBarrier>({spelling, "udp", wait, manners}, network, plan, *policy);
    return true;
} catch (const std::invalid_argument&) {
    return false;
}

/// Every plan of the catalogue, blocking; the exchanges also looking for a moment first, and busy polling.
void add_udp(Roster& roster, Rank ranks, const std::shared_ptr<const Network>& network) {
    for (const Algorithm& algorithm : catalogue()) {
        if (algorithm.has_roles() || !algorithm.runs_everywhere()) continue;
        for (const char* wait : {"auto", "park"})
            if (algorithm.runs_everywhere() && !add_udp_plan(roster, ranks, network, std::string(algorithm.name), wait))
                roster.skipped.push_back({std::string(algorithm.name), "the plan is not for so many ranks"});
    }
    for (const char* plan : {"pairwise", "dissemination"}) add_udp_plan(roster, ranks, network, plan, "spin");
}

/// As many as in the paper: Buntinas, Panda and Sadayappan, "Performance Benefits of NIC-Based Barrier on Myrinet/GM".
constexpr std::uint64_t consecutive = 10000;

int measure(Launch& launch, const std::string& hosts, const std::string& nics) {
    const Rank ranks = launch.options.ranks;
    const auto network = std::make_shared<const Network>(hosts, ranks);
    Roster roster;
    add_udp(roster, ranks, network);
    if (!nics.empty()) add_nics(roster, ranks, network);
    const Add add = [&](Roster& to, const std::string& name, const std::string& wait) {
        return add_udp_plan(to, ranks, network, name, wait);
    };
    if (!launch.keeps(roster, add)) return 0;
    launch.pace.most = consecutive;
    launch.begin({{"network", network->kind()}});
    ThreadCrew crew(ranks, launch.places());
    return measure_roster(launch, crew, roster);
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    std::string hosts;
    std::string nics;
    return run({.name = "tollbar-bench-udp",
                .flags = {{"--hosts", "NAME=ADDRESS,...", "network namespaces, one a rank (default: the loopback)",
                           text(hosts)},
                          {"--cards", "yes", "also barriers that the hosts' NICs run, card:PLAN", text(nics)}},
                .measure = [&](Launch& launch) { return measure(launch, hosts, nics); }},
               count, words);
}
