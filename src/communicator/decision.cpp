// SPDX-License-Identifier: Apache-2.0
// Groups the ranks by nodes, then settles memory, network and plan.
#include "decision.hpp"

#include "spelling.hpp"

#include "base/environment.hpp"
#include "base/random.hpp"
#include "base/say.h"
#include "membership/local_nic.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace tollbar::detail::mpi {

namespace {

/// Numbers the nodes in the order of their lowest ranks.
std::vector<Rank> number_nodes(const std::vector<Facts>& all, bool sharing) {
    std::map<std::uint64_t, Rank> numbers;
    std::vector<Rank> node_of;
    for (const Facts& one : all) {
        const std::uint64_t key = sharing ? one.node : node_of.size();
        node_of.push_back(numbers.try_emplace(key, static_cast<Rank>(numbers.size())).first->second);
    }
    return node_of;
}

/// An arena that all of them have; 0 when there is none.
std::uint64_t common_arena(const std::vector<const Facts*>& all) {
    for (const std::uint64_t id : all.front()->arenas) {
        const auto has = [&](const Facts* one) { return std::ranges::find(one->arenas, id) != one->arenas.end(); };
        if (id != 0 && std::ranges::all_of(all, has)) return id;
    }
    return 0;
}

/// Why the nodes cannot meet on their NICs, in one clause that names a rank without one; "" when they can.
std::string why_no_nics(const std::vector<Facts>& all, const std::vector<Rank>& leaders) {
    const auto named = [&](Rank rank) {
        return "rank " + std::to_string(rank) + " (host " + all[rank].address.host + ")";
    };
    std::map<std::uint32_t, Rank> leader_at;
    for (const Rank leader : leaders) {
        const NetworkFacts& network = all[leader].network;
        if (network.address == 0)
            return named(leader) + " has no tollbar NIC daemon (" + std::strerror(network.error) +
                   "; start it there: `tollbar nic up`)";
        const auto [other, fresh] = leader_at.try_emplace(network.address, leader);
        if (!fresh)
            return named(other->second) + " and " + named(leader) + " share one network card, " +
                   nic::text_of_address(network.address);
    }
    return "";
}

/// One decision in the making.
class Deciding {
public:
    Deciding(const std::vector<Facts>& all, const tollbar_mpi_options& options, const Means& means)
        : all_(all), options_(options), means_(means) {}

    Decided decide() {
        made_.node_of = number_nodes(all_, options_.sharing == TOLLBAR_SHARING_AUTO);
        made_.nodes = *std::ranges::max_element(made_.node_of) + 1;
        nodes_ = made_.nodes_with_ranks();
        made_.budget_ms = options_.all == 0 ? options_.budget_ms : std::max(options_.budget_ms, thorough_from_ms);
        made_.timeout_s = options_.timeout_s;
        made_.ticket = means_.ticket;
        survey_nodes();
        settle_network();
        suited_to_network(wished_plan()).copy(made_.plan, sizeof made_.plan - 1);
        return {.decision = std::move(made_), .remarks = std::move(remarks_)};
    }

private:
    void remark(std::string key, std::string line) { remarks_.push_back({std::move(key), std::move(line)}); }

    void go_by_messages(const std::string& why, bool asked) {
        remarks_.push_back(by_messages_because(why, options_.name, asked));
    }

    void survey_nodes() {
        for (const std::vector<Rank>& ranks : nodes_) {
            std::vector<const Facts*> members;
            std::vector<Standing> standings;
            for (const Rank rank : ranks) {
                members.push_back(&all_[rank]);
                standings.push_back(all_[rank].standing);
            }
            made_.arena_of.push_back(members.size() > 1 ? common_arena(members) : 0);
            made_.makes_arenas |= members.size() > 1 && made_.arena_of.back() == 0;
            made_.per_node = std::max(made_.per_node, static_cast<Rank>(members.size()));
            made_.crowded |= occupancy_of(standings) == Occupancy::oversubscribed;
        }
    }

    /// The network that all were asked to use; messages, with a remark, where ranks were asked for different ones.
    tollbar_network common_network() {
        const tollbar_network asked = all_.front().network.asked;
        const auto other = std::ranges::find_if(all_, [=](const Facts& one) { return one.network.asked != asked; });
        if (other == all_.end()) return asked;
        remark("", std::string(options_.name) + ": the ranks disagree about the network: rank 0 '" +
                       std::string(name_of(asked)) + "', rank " + std::to_string(other - all_.begin()) + " '" +
                       std::string(name_of(other->network.asked)) + "'; all use p2p");
        return TOLLBAR_NETWORK_P2P;
    }

    void settle_network() {
        made_.network = common_network();
        if (made_.nodes == 1 || made_.network == TOLLBAR_NETWORK_P2P) return;
        const std::vector<Rank> leaders = leaders_of(nodes_);
        if (const std::string why = why_no_nics(all_, leaders); !why.empty())
            return go_by_messages(why, made_.network == TOLLBAR_NETWORK_NIC);
        made_.key = means_.key;
        for (const Rank leader : leaders) made_.nics.push_back(all_[leader].network.address);
    }

    void name_disagreement() {
        std::string others;
        for (std::size_t rank = 1; rank < all_.size() && others.size() < 200; ++rank)
            if (std::strcmp(all_[rank].plan, all_[0].plan) != 0)
                others += ", rank " + std::to_string(rank) + " '" + all_[rank].plan + "'";
        remark("", std::string(options_.name) + ": the ranks ask for different plans: rank 0 '" + all_[0].plan + "'" +
                       others + "; choosing one for all");
    }

    void refuse(const char* plan, const std::string& why) {
        const bool from_environment = plan_is_from_environment(options_);
        const char* const setting = from_environment ? "TOLLBAR_PLAN" : options_.plan_named_by;
        const std::string line = environment::refusal_of_plan(setting, plan, why);
        remark(from_environment ? setting : line, line);
    }

    /// The plan that all ask for if it can be run, else what is stored for such a communicator; "" if nothing is
    /// stored, or that does not count.
    std::string wished_plan() {
        const char* const asked = all_[0].plan;
        const bool agreed = std::ranges::all_of(all_,
                                                [=](const Facts& one) { return std::strcmp(one.plan, asked) == 0; });
        if (!agreed) name_disagreement();
        if (agreed && *asked != '\0') {
            const std::string fault = fault_of_spelling(asked, nodes_);
            if (fault.empty()) return asked;
            refuse(asked, fault);
        }
        if (options_.all != 0) return "";
        const auto stored = means_.stored_plan(situation_of(made_, static_cast<Rank>(all_.size()), options_));
        if (!stored) return "";
        const std::string fault = fault_of_spelling(*stored, nodes_);
        if (!fault.empty()) remark(fault, means_.tuning_file + ": " + fault + "; choosing a plan");
        return fault.empty() ? *stored : "";
    }

    /// The plan as the network wants it, on NICs or by messages.
    std::string suited_to_network(const std::string& plan) {
        const bool asks = nic_shape(plan).has_value();
        if (made_.nodes == 1 || plan.empty()) return by_messages(plan);
        if (!made_.has_nics()) {
            if (asks && made_.network == TOLLBAR_NETWORK_P2P)
                go_by_messages("'" + plan + "' runs on network cards, but the network is p2p", true);
            return by_messages(plan);
        }
        if (!asks && made_.network != TOLLBAR_NETWORK_NIC) return plan;
        std::string moved = asks ? plan : moved_to_nics(plan, made_.node_of);
        const std::string fault = moved.empty()
                                      ? "no part of '" + plan + "' goes on between nodes alone, as in turnstile/PLAN"
                                      : fault_on_nics(moved, made_.node_of);
        if (fault.empty()) return moved;
        go_by_messages(fault, true);
        return by_messages(plan);
    }

    const std::vector<Facts>& all_;
    const tollbar_mpi_options& options_;
    const Means& means_;
    Decision made_{};
    Groups nodes_;
    std::vector<Remark> remarks_;
};

}  // namespace

Groups Decision::nodes_with_ranks() const {
    Groups ranks(nodes);
    for (Rank rank = 0; rank < node_of.size(); ++rank) ranks[node_of[rank]].push_back(rank);
    return ranks;
}

void say(const Remark& remark) {
    if (remark.for_the_curious && environment::verbosity() == 0) return;
    if (remark.key.empty()) return tollbar_say("%s", remark.line.c_str());
    tollbar_say_once(remark.key.c_str(), "%s", remark.line.c_str());
}

Means own_means() {
    return {.ticket = random_number(),
            .key = {random_number(), random_number()},
            .stored_plan = tuned_mpi_plan,
            .tuning_file = environment::tuning_file()};
}

Decided decide(const std::vector<Facts>& all, const tollbar_mpi_options& options, const Means& means) {
    return Deciding(all, options, means).decide();
}

Remark by_messages_because(const std::string& why, const char* name, bool asked) {
    return {why, std::string(name) + ": using messages instead of network cards: " + why, !asked};
}

std::vector<Rank> leaders_of(const Groups& nodes) {
    std::vector<Rank> leaders;
    for (const std::vector<Rank>& ranks : nodes) leaders.push_back(ranks.front());
    return leaders;
}

MpiSituation situation_of(const Terms& terms, Rank ranks, const tollbar_mpi_options& options) {
    constexpr std::array objectives{"latency", "skew", "wait"};  // in the order of tollbar_objective
    std::string mpi = options.mpi;
    // NICs lead to other choices.
    if (terms.has_nics()) mpi += terms.network == TOLLBAR_NETWORK_NIC ? "+nic" : "+cards";
    return {.ranks = ranks,
            .nodes = terms.nodes,
            .per_node = terms.per_node,
            .crowded = terms.crowded,
            .mpi = mpi,
            .objective = objectives[options.objective]};
}

}  // namespace tollbar::detail::mpi
