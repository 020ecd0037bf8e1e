// SPDX-License-Identifier: Apache-2.0
// The barriers that tollbar itself offers: every plan of the catalogue, the turnstile, the combination, and
// tollbar::barrier; and what every user has today: std::barrier and pthread_barrier.
#include "barriers.hpp"
#include "candidates.hpp"

#include "tuner/tuning.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/detail/cpus.hpp>

#include <gnu/libc-version.h>

#include <array>
#include <cstdlib>
#include <string>

namespace tollbar::bench {

namespace {

struct Policy {
    const char* name;
    wait_policy policy;
    Manners manners;
};

constexpr std::array policies{
    Policy{"auto", wait_policy::automatic, Manners::gives_way},
    Policy{"spin", wait_policy::spin, Manners::spins},
    Policy{"yield", wait_policy::yield, Manners::gives_way},
    Policy{"park", wait_policy::park, Manners::gives_way},
};

void add_group(Roster& roster, Rank ranks, const std::string& plan, const std::string& kind, const Policy& policy) {
    roster.add<GroupBarrier>({plan, kind, policy.name, policy.manners}, ranks, plan, policy.policy);
}

/// The plan that pinned threads run untuned, with neighbours for clusters, which they fill in order; "" where they are
/// in one.
std::string by_clusters(Rank ranks) {
    const Choice untuned = default_choice({.ranks = ranks, .cpus = masked_cpus(), .pinned = true});
    if (untuned.groups == 0) return "";
    const Rank size = (ranks - 1) / untuned.groups + 1;
    return "turnstile@" + std::to_string(size) + untuned.plan.substr(untuned.plan.find('/'));
}

const Policy& policy_named(const std::string& name) {
    for (const Policy& policy : policies)
        if (name == policy.name) return policy;
    throw std::invalid_argument("'" + name + "' is not a waiting policy; there are auto, spin, yield, park");
}

}  // namespace

void add_plan(Roster& roster, Rank ranks, const std::string& spelling, const std::string& wait) {
    make_plan(spelling, ranks);  // throws for what cannot be
    add_group(roster, ranks, spelling, "plan", policy_named(wait));
}

Add plans_for(Rank ranks) {
    return [ranks](Roster& roster, const std::string& name, const std::string& wait) {
        if (name == "pthread_door") return add_door(roster, ranks);
        try {
            add_plan(roster, ranks, name, wait);
            return true;
        } catch (const std::invalid_argument&) {
            return false;  // select() says what there is
        }
    };
}

void add_tollbar(Roster& roster, Rank ranks) {
    std::vector<std::string> plans;
    for (const Algorithm& algorithm : catalogue())
        if (!algorithm.has_roles() && algorithm.runs_everywhere()) plans.emplace_back(algorithm.name);
    plans.insert(plans.end(), {"combining:2", "mcs:2,2", "dissemination:2", "dissemination:3"});
    if (ranks > 2) plans.emplace_back("central@2/dissemination");
    if (const std::string in_clusters = by_clusters(ranks); !in_clusters.empty()) plans.push_back(in_clusters);

    for (const std::string& plan : plans) add_plan(roster, ranks, plan, "auto");
    for (const char* plan : {"dissemination", "mcs", "central", "tournament"})
        for (const char* wait : {"spin", "yield", "park"}) add_plan(roster, ranks, plan, wait);
    for (const char* kind : {"turnstile", "combination"})
        for (const Policy& policy : policies) add_group(roster, ranks, kind, kind, policy);
    roster.add<Everywhere<OwnBarrier>>({"tollbar::barrier", "barrier"}, ranks);
}

void add_beside_neighbours(Roster& roster, const Launch& launch) {
    const Rank ranks = launch.options.ranks;
    const char* asked = std::getenv("TOLLBAR_WAIT");  // which is the process's
    const Policy& policy = policy_named(asked == nullptr ? "auto" : asked);
    roster.add<Everywhere<OwnBarrier>>({"tollbar::barrier", "barrier", policy.name, policy.manners}, ranks);
    if (policy.policy != wait_policy::automatic) return;
    const Situation situation{.ranks = ranks,
                              .cpus = static_cast<std::uint32_t>(launch.cpus.size()),
                              .pinned = launch.options.placement == Placement::pinned};
    const Choice untuned = default_choice(situation);
    const std::optional<Choice> tuned = tuned_choice(situation);
    roster.add<GroupBarrier>({"group", "group"}, ranks, untuned.plan, policy_named(untuned.wait).policy);
    if (tuned && *tuned != untuned)
        roster.add<GroupBarrier>({"tuned group", "group"}, ranks, tuned->plan, policy_named(tuned->wait).policy);
    else
        roster.skipped.push_back({"tuned group", tuned ? "it runs what an untuned one runs" : "nothing is stored"});
    add_standard_peers(roster, ranks);
}

void add_standard_peers(Roster& roster, Rank ranks) {
    roster.add<Everywhere<StandardBarrier>>({"std::barrier", "peer"}, ranks);
    roster.add<Everywhere<Meeting>>({"pthread_barrier", "peer"}, ranks);
    roster.versions.push_back({"glibc", gnu_get_libc_version()});
    roster.versions.push_back({"libstdc++", std::to_string(__GLIBCXX__)});
}

}  // namespace tollbar::bench
