// SPDX-License-Identifier: Apache-2.0
// Groups the ranks by nodes, then settles memory, network and plan.
#include "ruling.hpp"

#include "selection.hpp"
#include "spelling.hpp"

#include "nicd/client/local_nic.hpp"
#include "runtime/environment.hpp"
#include "runtime/random.hpp"
#include "runtime/say.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>

namespace tollbar::mpi {

namespace {

/// Numbers the nodes in the order of their lowest ranks.
std::vector<Rank> number_nodes(const std::vector<Introduction>& all, bool sharing) {
    std::map<std::uint64_t, Rank> numbers;
    std::vector<Rank> node_of;
    for (const Introduction& one : all) {
        const std::uint64_t key = sharing ? one.node : node_of.size();
        node_of.push_back(numbers.try_emplace(key, static_cast<Rank>(numbers.size())).first->second);
    }
    return node_of;
}

/// An arena that all of them have; 0 when there is none.
std::uint64_t common_arena(const std::vector<const Introduction*>& all) {
    for (const std::uint64_t id : all.front()->arenas) {
        const auto has = [&](const Introduction* one) {
            return std::ranges::find(one->arenas, id) != one->arenas.end();
        };
        if (id != 0 && std::ranges::all_of(all, has)) return id;
    }
    return 0;
}

void name_who_disagrees(const std::vector<Introduction>& all, const char* name) {
    std::string others;
    for (std::size_t rank = 1; rank < all.size() && others.size() < 200; ++rank)
        if (std::strcmp(all[rank].plan, all[0].plan) != 0)
            others += ", rank " + std::to_string(rank) + " '" + all[rank].plan + "'";
    tollbar_say("%s: the ranks ask for different plans: rank 0 '%s'%s; choosing one for all", name, all[0].plan,
                others.c_str());
}

/// Random as a whole: each communicator draws one, whichever process is its root.
std::uint64_t new_ticket() {
    std::random_device source;
    return std::uint64_t{source()} << 32 | source();
}

/// Says that once a process, whatever it is said of.
void say_once(const std::string& that, const std::string& of = "") {
    static std::mutex mutex;
    static std::set<std::string> said;
    const std::lock_guard lock(mutex);
    if (said.insert(that).second) tollbar_say("%s%s", of.c_str(), that.c_str());
}

/// Says of a plan that was asked for why it cannot be run.
void pass_over(const tollbar_mpi_options& options, const char* plan, const std::string& why) {
    if (plan_is_from_environment(options)) {
        environment::refuse_plan(why);
    } else {
        say_once(environment::refusal_of_plan(options.plan_named_by, plan, why));
    }
}

/// Rank 0: who shares a node, and what they have in common.
std::vector<std::uint64_t> survey(const std::vector<Introduction>& all, const std::vector<Rank>& node_of,
                                  Terms& terms) {
    terms.nodes = *std::ranges::max_element(node_of) + 1;
    std::vector<std::vector<const Introduction*>> by_node(terms.nodes);
    for (std::size_t rank = 0; rank < all.size(); ++rank) by_node[node_of[rank]].push_back(&all[rank]);
    std::vector<std::uint64_t> arena_of;
    for (const auto& members : by_node) {
        arena_of.push_back(members.size() > 1 ? common_arena(members) : 0);
        terms.makes_arenas |= members.size() > 1 && arena_of.back() == 0;
        terms.per_node = std::max(terms.per_node, static_cast<Rank>(members.size()));
        std::vector<Standing> standings(members.size());
        std::ranges::transform(members, standings.begin(), [](const Introduction* member) { return member->standing; });
        terms.crowded |= crowding_of(standings) == Crowding::crowded;
    }
    return arena_of;
}

/// Rank 0: the plan that all ask for if it can be run, else what is stored for such a communicator; "" if nothing is,
/// or that is not to count.
std::string wished_plan(const std::vector<Introduction>& all, const Groups& nodes, const Terms& terms,
                        const tollbar_mpi_options& options) {
    const bool agreed = std::ranges::all_of(
        all, [&](const Introduction& one) { return std::strcmp(one.plan, all[0].plan) == 0; });
    if (!agreed) name_who_disagrees(all, name_of(options));
    if (agreed && all[0].plan[0] != '\0') {
        const std::string fault = fault_of_spelling(all[0].plan, nodes);
        if (fault.empty()) return all[0].plan;
        pass_over(options, all[0].plan, fault);
    }
    if (options.all != 0) return "";
    const auto stored = tuned_mpi_plan(situation_of(terms, static_cast<Rank>(all.size()), options));
    if (!stored) return "";
    const std::string fault = fault_of_spelling(*stored, nodes);
    if (!fault.empty()) say_once(environment::tuning_file() + ": " + fault + "; choosing a plan");
    return fault.empty() ? *stored : "";
}

/// Rank 0: what all were told. Where they were told different things, that is said and messages it is.
tollbar_network common_network(const std::vector<Introduction>& all, const char* name) {
    const tollbar_network told = all.front().network.told;
    const auto other = std::ranges::find_if(all, [=](const Introduction& one) { return one.network.told != told; });
    if (other == all.end()) return told;
    tollbar_say("%s: the ranks disagree about the network: rank 0 '%s', rank %ld '%s'; all use p2p", name,
                tollbar::name_of(told).data(), static_cast<long>(other - all.begin()),
                tollbar::name_of(other->network.told).data());
    return TOLLBAR_NETWORK_P2P;
}

/// Rank 0: why the nodes cannot meet on their cards, in one clause that names who has none; "" when they can.
std::string why_no_cards(const std::vector<Introduction>& all, const std::vector<Rank>& leaders) {
    const auto named = [&](Rank rank) {
        return "rank " + std::to_string(rank) + " (host " + all[rank].address.host + ")";
    };
    std::map<std::uint32_t, Rank> leader_at;
    for (const Rank leader : leaders) {
        const NetworkStanding& standing = all[leader].network;
        if (standing.address == 0)
            return named(leader) + " has no tollbar NIC daemon (" + std::strerror(standing.error) +
                   "; start it there: `tollbar nic up`)";
        const auto [other, fresh] = leader_at.try_emplace(standing.address, leader);
        if (!fresh)
            return named(other->second) + " and " + named(leader) + " share one network card, " +
                   nic::text_of_address(standing.address);
    }
    return "";
}

/// Rank 0: whether the nodes may meet on their cards, and the addresses of these.
std::vector<std::uint32_t> survey_cards(const std::vector<Introduction>& all, const std::vector<Rank>& leaders,
                                        Terms& terms, const char* name) {
    terms.network = common_network(all, name);
    if (terms.nodes == 1 || terms.network == TOLLBAR_NETWORK_P2P) return {};
    if (const std::string why = why_no_cards(all, leaders); !why.empty()) {
        say_by_messages(name, why, terms.network == TOLLBAR_NETWORK_NIC ? Asked::yes : Asked::no);
        return {};
    }
    terms.key = {random_number(), random_number()};
    std::vector<std::uint32_t> addresses;
    addresses.reserve(leaders.size());
    for (const Rank leader : leaders) addresses.push_back(all[leader].network.address);
    return addresses;
}

/// Rank 0: the plan as the network wants it, on cards or by messages.
std::string suited_plan(const std::string& plan, const Terms& terms, const std::vector<Rank>& node_of,
                        const char* name) {
    const bool asks = on_cards(plan).has_value();
    if (terms.nodes == 1 || plan.empty()) return by_messages(plan);
    if (!terms.has_cards()) {
        if (asks && terms.network == TOLLBAR_NETWORK_P2P)
            say_by_messages(name, "'" + plan + "' runs on network cards, but the network is p2p", Asked::yes);
        return by_messages(plan);
    }
    if (!asks && terms.network != TOLLBAR_NETWORK_NIC) return plan;
    std::string moved = asks ? plan : moved_to_cards(plan, node_of);
    const std::string fault = moved.empty()
                                  ? "no part of '" + plan + "' goes on between nodes alone, as in turnstile/PLAN"
                                  : fault_of_cards(moved, node_of);
    if (fault.empty()) return moved;
    say_by_messages(name, fault, Asked::yes);
    return by_messages(plan);
}

}  // namespace

void say_by_messages(const char* name, const std::string& why, Asked asked) {
    if (asked == Asked::no && environment::verbosity() == 0) return;
    say_once("using messages instead of network cards: " + why, std::string(name) + ": ");
}

const char* name_of(const tollbar_mpi_options& options) {
    return options.name == nullptr || *options.name == '\0' ? "a communicator" : options.name;
}

double timeout_of(const tollbar_mpi_options& options) {
    if (options.timeout_s >= 0) return options.timeout_s;
    const auto timeout = environment::timeout();
    return timeout ? timeout->count() : 0;
}

Groups ranks_of_nodes(const std::vector<Rank>& node_of, Rank nodes) {
    Groups ranks(nodes);
    for (Rank rank = 0; rank < node_of.size(); ++rank) ranks[node_of[rank]].push_back(rank);
    return ranks;
}

std::vector<Rank> leaders_of(const Groups& nodes) {
    std::vector<Rank> leaders;
    for (const std::vector<Rank>& ranks : nodes) leaders.push_back(ranks.front());
    return leaders;
}

MpiSituation situation_of(const Terms& terms, Rank ranks, const tollbar_mpi_options& options) {
    constexpr std::array objectives{"latency", "skew", "wait"};  // in the order of tollbar_objective
    std::string mpi = options.mpi == nullptr ? "any" : options.mpi;
    // Where nodes have cards, other choices are made.
    if (terms.has_cards()) mpi += terms.network == TOLLBAR_NETWORK_NIC ? "+nic" : "+cards";
    return {.ranks = ranks,
            .nodes = terms.nodes,
            .per_node = terms.per_node,
            .crowded = terms.crowded,
            .mpi = mpi,
            .objective = objectives[options.objective]};
}

Ruling rule(const std::vector<Introduction>& all, const tollbar_mpi_options& options) {
    Ruling ruling;
    Terms& terms = ruling.terms;
    ruling.node_of = number_nodes(all, options.sharing == TOLLBAR_SHARING_AUTO);
    terms.budget_ms = options.budget_ms < 0 ? 20 : options.budget_ms;
    if (options.all != 0) terms.budget_ms = std::max(terms.budget_ms, thorough_from_ms);
    terms.timeout_s = timeout_of(options);
    terms.ticket = new_ticket();
    ruling.arena_of = survey(all, ruling.node_of, terms);
    const Groups nodes = ranks_of_nodes(ruling.node_of, terms.nodes);
    ruling.cards = survey_cards(all, leaders_of(nodes), terms, name_of(options));
    const std::string plan = wished_plan(all, nodes, terms, options);
    suited_plan(plan, terms, ruling.node_of, name_of(options)).copy(terms.plan, sizeof terms.plan - 1);
    return ruling;
}

}  // namespace tollbar::mpi
