// SPDX-License-Identifier: Apache-2.0
// Asks the daemon of the host's card, and puts into words what is missing.
#include "network.hpp"

#include "nicd/client/local_nic.hpp"
#include "runtime/environment.hpp"
#include "runtime/say.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

namespace tollbar::mpi {

namespace {

std::string named(Rank rank, const std::string& host) {
    return "rank " + std::to_string(rank) + " (host " + host + ")";
}

}  // namespace

NetworkStanding own_network(const tollbar_mpi_options& options) {
    NetworkStanding standing{};
    standing.told = options.network == TOLLBAR_NETWORK_UNSAID ? environment::network() : options.network;
    if (standing.told == TOLLBAR_NETWORK_P2P) return standing;
    static const nic::Found card = nic::find_nic();
    standing.address = card.address;
    standing.error = card.error;
    return standing;
}

tollbar_network common_network(const std::vector<NetworkStanding>& standings, const char* name) {
    const auto other = std::ranges::find_if(
        standings, [&](const NetworkStanding& one) { return one.told != standings.front().told; });
    if (other == standings.end()) return standings.front().told;
    tollbar_say("%s: the ranks disagree about the network: rank 0 '%s', rank %ld '%s'; all use p2p", name,
                tollbar::name_of(standings.front().told).data(), static_cast<long>(other - standings.begin()),
                tollbar::name_of(other->told).data());
    return TOLLBAR_NETWORK_P2P;
}

std::string why_no_cards(const std::vector<NetworkStanding>& standings, const std::vector<Rank>& leaders,
                         const std::vector<std::string>& hosts) {
    std::map<std::uint32_t, std::size_t> node_at;
    for (std::size_t node = 0; node < leaders.size(); ++node) {
        const NetworkStanding& standing = standings[leaders[node]];
        const std::string who = named(leaders[node], hosts[node]);
        if (standing.address == 0)
            return who + " has no tollbar NIC daemon (" + std::strerror(standing.error) +
                   "; start it there: `tollbar nic up`)";
        const auto [other, fresh] = node_at.try_emplace(standing.address, node);
        if (!fresh)
            return named(leaders[other->second], hosts[other->second]) + " and " + who + " share one network card, " +
                   nic::text_of_address(standing.address);
    }
    return "";
}

void say_by_messages(const char* name, const std::string& why, Asked asked) {
    static std::mutex mutex;
    static std::set<std::string> said;
    if (asked == Asked::no && environment::verbosity() == 0) return;
    const std::lock_guard lock(mutex);
    if (said.insert(why).second) tollbar_say("%s: using messages instead of network cards: %s", name, why.c_str());
}

}  // namespace tollbar::mpi
