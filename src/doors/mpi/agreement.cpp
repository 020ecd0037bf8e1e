// SPDX-License-Identifier: Apache-2.0
// One gather and one broadcast a communicator; two rounds more for the first on a node, which gets its memory then.
#include "agreement.hpp"

#include "arenas.hpp"
#include "network.hpp"
#include "set_up.hpp"
#include "spelling.hpp"

#include <tollbar/crowding.hpp>
#include <tollbar/environment.hpp>
#include <tollbar/tuning.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace tollbar::mpi {

namespace {

/// What a rank says of itself.
struct Card {
    std::uint64_t node;
    std::array<std::uint64_t, Arenas::told> arenas;
    Standing standing;
    NetworkStanding network;
    char plan[128];
    Address address;
};

template <std::size_t size>
void copy(char (&to)[size], std::string_view from) {
    const std::size_t length = std::min(from.size(), size - 1);
    std::memcpy(to, from.data(), length);
    std::memset(to + length, 0, size - length);
}

/// Equal for processes that can share memory by a file in /dev/shm: same kernel, host name, mount and user.
std::uint64_t node_identity(const std::string& host) {
    static const std::string kernel = [] {
        std::string boot;
        std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
        struct stat shm {};
        const bool mounted = stat("/dev/shm", &shm) == 0;
        return boot + '/' + std::to_string(mounted ? shm.st_dev : 0) + '/' + std::to_string(getuid()) + '/';
    }();
    return std::max<std::uint64_t>(std::hash<std::string>{}(kernel + host), 1);
}

Card own_card(const tollbar_mpi_options& options, Rank rank) {
    const std::string host = options.host == nullptr ? host_name() : options.host;
    Card card{};
    card.node = node_identity(host);
    card.arenas = arenas().newest();
    card.standing = own_standing();
    card.network = own_network(options, rank);
    copy(card.plan, asked_plan(options));
    copy(card.address.host, host);
    card.address.process = getpid();
    return card;
}

/// Numbers the nodes in the order of their lowest ranks.
std::vector<Rank> number_nodes(const std::vector<Card>& cards, bool sharing) {
    std::map<std::uint64_t, Rank> numbers;
    std::vector<Rank> node_of;
    for (const Card& card : cards) {
        const std::uint64_t key = sharing ? card.node : node_of.size();
        node_of.push_back(numbers.try_emplace(key, static_cast<Rank>(numbers.size())).first->second);
    }
    return node_of;
}

std::vector<Rank> leaders_of(const std::vector<Rank>& node_of, Rank nodes) {
    std::vector<Rank> leaders(nodes);
    for (std::size_t rank = node_of.size(); rank-- > 0;) leaders[node_of[rank]] = static_cast<Rank>(rank);
    return leaders;
}

/// An arena that all of them have; 0 when there is none.
std::uint64_t common_arena(const std::vector<const Card*>& cards) {
    for (const std::uint64_t id : cards.front()->arenas) {
        const auto has = [&](const Card* card) { return std::ranges::find(card->arenas, id) != card->arenas.end(); };
        if (id != 0 && std::ranges::all_of(cards, has)) return id;
    }
    return 0;
}

void name_who_disagrees(const std::vector<Card>& cards, const char* name) {
    std::string others;
    for (std::size_t rank = 1; rank < cards.size() && others.size() < 200; ++rank)
        if (std::strcmp(cards[rank].plan, cards[0].plan) != 0)
            others += ", rank " + std::to_string(rank) + " '" + cards[rank].plan + "'";
    std::fprintf(stderr, "tollbar: %s: the ranks ask for different plans: rank 0 '%s'%s; choosing one for all\n", name,
                 cards[0].plan, others.c_str());
}

/// Random in the high half, so that no two jobs and no two root processes of a job draw the same.
std::uint64_t new_ticket() {
    static std::mutex mutex;
    static std::uint64_t next = [] {
        std::random_device source;
        return std::uint64_t{source()} << 32;
    }();
    const std::lock_guard lock(mutex);
    return next += std::uint64_t{1} << 32;
}

double timeout_of(const tollbar_mpi_options& options) {
    if (options.timeout_s >= 0) return options.timeout_s;
    const auto timeout = timeout_from_environment();
    return timeout ? timeout->count() : 0;
}

const char* name_of(const tollbar_mpi_options& options) {
    return options.name == nullptr || *options.name == '\0' ? "a communicator" : options.name;
}

/// Says of a wish why it is not granted, once a process for each reason.
void refuse(const char* name, const std::string& why) {
    static std::mutex mutex;
    static std::set<std::string> said;
    const std::lock_guard lock(mutex);
    if (said.insert(why).second) std::fprintf(stderr, "tollbar: %s: %s; choosing a plan\n", name, why.c_str());
}

/// Rank 0: who shares a node, and what they have in common.
std::vector<std::uint64_t> survey(const std::vector<Card>& cards, const std::vector<Rank>& node_of, Terms& terms) {
    terms.nodes = *std::ranges::max_element(node_of) + 1;
    std::vector<std::vector<const Card*>> by_node(terms.nodes);
    for (std::size_t rank = 0; rank < cards.size(); ++rank) by_node[node_of[rank]].push_back(&cards[rank]);
    std::vector<std::uint64_t> arena_of;
    for (const auto& members : by_node) {
        arena_of.push_back(members.size() > 1 ? common_arena(members) : 0);
        terms.makes_arenas |= members.size() > 1 && arena_of.back() == 0;
        terms.per_node = std::max(terms.per_node, static_cast<Rank>(members.size()));
        std::vector<Standing> standings(members.size());
        std::ranges::transform(members, standings.begin(), [](const Card* member) { return member->standing; });
        terms.crowded |= crowding_of(standings) == Crowding::crowded;
    }
    return arena_of;
}

/// Rank 0: the plan that all ask for if it can be run, else what is stored for such a communicator; "" if nothing is.
std::string wished_plan(const std::vector<Card>& cards, const Terms& terms, const tollbar_mpi_options& options) {
    const auto ranks = static_cast<Rank>(cards.size());
    const bool agreed = std::ranges::all_of(
        cards, [&](const Card& card) { return std::strcmp(card.plan, cards[0].plan) == 0; });
    if (!agreed) name_who_disagrees(cards, name_of(options));
    if (agreed && cards[0].plan[0] != '\0') {
        const std::string fault = fault_of_spelling(cards[0].plan, ranks, terms.nodes);
        if (fault.empty()) return cards[0].plan;
        refuse(name_of(options), fault);
    }
    const auto stored = tuned_mpi_plan(situation_of(terms, ranks, options));
    if (!stored) return "";
    const std::string fault = fault_of_spelling(*stored, ranks, terms.nodes);
    if (!fault.empty()) refuse(tuning_file().c_str(), fault);
    return fault.empty() ? *stored : "";
}

/// Rank 0: whether the nodes may meet on their cards, and the addresses of these.
std::vector<std::uint32_t> survey_cards(const std::vector<Card>& cards, const std::vector<Rank>& leaders, Terms& terms,
                                        const char* name) {
    std::vector<NetworkStanding> standings;
    std::vector<std::string> hosts;
    std::vector<std::uint32_t> addresses;
    std::ranges::transform(cards, std::back_inserter(standings), &Card::network);
    for (const Rank leader : leaders) {
        hosts.emplace_back(cards[leader].address.host);
        addresses.push_back(cards[leader].network.address);
    }
    terms.network = common_network(standings, name);
    if (terms.nodes == 1 || terms.network == TOLLBAR_NETWORK_P2P) return {};
    const std::string why = why_no_cards(standings, leaders, hosts);
    if (!why.empty()) say_by_messages(name, why, terms.network == TOLLBAR_NETWORK_NIC ? Asked::yes : Asked::no);
    if (!why.empty()) return {};
    std::random_device source;
    while (terms.key == 0) terms.key = std::uint64_t{source()} << 32 | source();
    return addresses;
}

/// Rank 0: the plan as the network wants it, on cards or by messages.
std::string suited_plan(const std::string& plan, const Terms& terms, const std::vector<Rank>& node_of,
                        const char* name) {
    const bool asks = on_cards(plan).has_value();
    if (terms.nodes == 1 || plan.empty()) return by_messages(plan);
    if (terms.key == 0) {
        if (asks && terms.network == TOLLBAR_NETWORK_P2P)
            say_by_messages(name, "'" + plan + "' names the card, and the network is p2p", Asked::yes);
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

/// Collective: gives every node that lacks one an arena, or finds that it cannot be had there.
void make_arenas(const tollbar_carrier& carrier, Agreement& agreement, const std::vector<std::uint64_t>& arena_of,
                 const SetUpWait& waiting) {
    const bool leads = agreement.leaders[agreement.node] == carrier.rank;
    const std::uint64_t id = ticket_of(agreement.terms, agreement.node, 0);
    const bool lacks = arena_of[agreement.node] == 0 && agreement.here.size() > 1;
    const auto attempt = [&](bool mine) -> std::uint8_t {
        if (!lacks || !mine) return 1;
        try {
            // Ranks that are threads of one process use one mapping.
            if (!leads) agreement.arena = arenas().find(id);
            if (!agreement.arena) {
                agreement.arena = leads ? Arena::make(id) : Arena::open(id);
                arenas().add(agreement.arena);
            }
            return 1;
        } catch (const std::system_error& error) {
            if (std::getenv("TOLLBAR_VERBOSE") != nullptr)
                std::fprintf(stderr, "tollbar: %s; the ranks of this node meet by messages\n", error.what());
            return 0;
        }
    };
    const auto confirm = [&](std::uint8_t fine) {
        const std::vector<std::uint8_t> all = gather(carrier, fine, waiting);
        std::vector<std::uint8_t> works(agreement.terms.nodes, 1);
        if (carrier.rank == 0)
            for (Rank rank = 0; rank < carrier.ranks; ++rank) works[agreement.node_of[rank]] &= all[rank];
        broadcast(carrier, works.data(), works.size(), waiting);
        return works[agreement.node] != 0;
    };
    bool works = confirm(attempt(leads));
    works = confirm(attempt(!leads && works)) && works;
    if (lacks && leads) Arena::unlink(id);
    if (!works) agreement.arena = nullptr;
}

}  // namespace

const std::string& host_name() {
    static const std::string own = [] {
        std::array<char, 256> name{};
        gethostname(name.data(), name.size() - 1);
        return std::string(name.data());
    }();
    return own;
}

MpiSituation situation_of(const Terms& terms, Rank ranks, const tollbar_mpi_options& options) {
    constexpr std::array objectives{"latency", "skew", "wait"};  // in the order of tollbar_objective
    std::string mpi = options.mpi == nullptr ? "any" : options.mpi;
    // Where nodes have cards, other choices are made.
    if (terms.key != 0) mpi += terms.network == TOLLBAR_NETWORK_NIC ? "+nic" : "+cards";
    return {.ranks = ranks,
            .nodes = terms.nodes,
            .per_node = terms.per_node,
            .crowded = terms.crowded,
            .mpi = mpi,
            .objective = objectives[options.objective]};
}

Agreement agree(const tollbar_carrier& carrier, const tollbar_mpi_options& options) {
    const SetUpWait waiting(carrier, name_of(options), timeout_of(options));
    Agreement agreement;
    const Card own = own_card(options, carrier.rank);
    agreement.standing = own.standing;
    const std::vector<Card> cards = gather(carrier, own, waiting);
    std::vector<Rank>& node_of = agreement.node_of;
    Terms& terms = agreement.terms;
    std::vector<std::uint64_t> arena_of(carrier.ranks);  // of each node
    node_of.resize(carrier.ranks);
    if (carrier.rank == 0) {
        node_of = number_nodes(cards, options.sharing == TOLLBAR_SHARING_AUTO);
        terms.budget_ms = options.budget_ms < 0 ? 20 : options.budget_ms;
        terms.timeout_s = timeout_of(options);
        terms.ticket = new_ticket();
        std::ranges::copy(survey(cards, node_of, terms), arena_of.begin());
        agreement.cards = survey_cards(cards, leaders_of(node_of, terms.nodes), terms, name_of(options));
        copy(terms.plan, suited_plan(wished_plan(cards, terms, options), terms, node_of, name_of(options)));
    }
    {
        // All in one message: each costs a switch of every rank where ranks outnumber CPUs.
        const std::size_t arenas_at = sizeof terms + node_of.size() * sizeof node_of[0];
        std::vector<std::byte> all(arenas_at + arena_of.size() * sizeof arena_of[0]);
        std::memcpy(all.data(), &terms, sizeof terms);
        std::memcpy(all.data() + sizeof terms, node_of.data(), arenas_at - sizeof terms);
        std::memcpy(all.data() + arenas_at, arena_of.data(), all.size() - arenas_at);
        broadcast(carrier, all.data(), all.size(), waiting);
        std::memcpy(&terms, all.data(), sizeof terms);
        std::memcpy(node_of.data(), all.data() + sizeof terms, arenas_at - sizeof terms);
        std::memcpy(arena_of.data(), all.data() + arenas_at, all.size() - arenas_at);
    }

    agreement.node = node_of[carrier.rank];
    agreement.leaders = leaders_of(node_of, terms.nodes);
    for (Rank rank = 0; rank < carrier.ranks; ++rank) {
        if (node_of[rank] != agreement.node) continue;
        if (rank == carrier.rank) agreement.place = static_cast<Rank>(agreement.here.size());
        agreement.here.push_back(rank);
    }
    if (arena_of[agreement.node] != 0) agreement.arena = arenas().find(arena_of[agreement.node]);
    if (terms.makes_arenas) make_arenas(carrier, agreement, arena_of, waiting);

    if (terms.key != 0) {
        agreement.cards.resize(terms.nodes);
        broadcast(carrier, agreement.cards.data(), terms.nodes * sizeof agreement.cards[0], waiting);
    }
    if (terms.timeout_s > 0) {
        agreement.addresses.resize(carrier.ranks);
        if (carrier.rank == 0)
            std::ranges::transform(cards, agreement.addresses.begin(), [](const Card& card) { return card.address; });
        broadcast(carrier, agreement.addresses.data(), agreement.addresses.size() * sizeof(Address), waiting);
    }
    return agreement;
}

}  // namespace tollbar::mpi
