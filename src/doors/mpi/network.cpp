// SPDX-License-Identifier: Apache-2.0
// Reads TOLLBAR_NETWORK, asks the daemon of the host's card, and puts into words what is missing.
#include "network.hpp"

#include "doors/nic/fitness.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string_view>

namespace tollbar::mpi {

namespace {

constexpr std::array<std::string_view, 4> names{"", "auto", "p2p", "nic"};  // in the order of tollbar_network

tollbar_network network_from_environment(bool speaks) {
    const char* value = std::getenv("TOLLBAR_NETWORK");
    if (value == nullptr || *value == '\0') return TOLLBAR_NETWORK_AUTO;
    const auto* const found = std::ranges::find(names, std::string_view(value));
    if (found != names.end()) return static_cast<tollbar_network>(found - names.begin());
    static std::once_flag said;
    if (speaks)
        std::call_once(said, [value] {
            std::fprintf(stderr, "tollbar: TOLLBAR_NETWORK='%s' is none of auto, p2p, nic; taking auto\n", value);
        });
    return TOLLBAR_NETWORK_AUTO;
}

std::string named(Rank rank, const std::string& host) {
    return "rank " + std::to_string(rank) + " (host " + host + ")";
}

}  // namespace

NetworkStanding own_network(const tollbar_mpi_options& options, Rank rank) {
    NetworkStanding standing{};
    standing.told = options.network == TOLLBAR_NETWORK_UNSAID ? network_from_environment(rank == 0) : options.network;
    if (standing.told == TOLLBAR_NETWORK_P2P) return standing;
    static const nic::Found card = nic::find_card();
    standing.address = card.address;
    standing.error = card.error;
    return standing;
}

tollbar_network common_network(const std::vector<NetworkStanding>& standings, const char* name) {
    const auto other = std::ranges::find_if(
        standings, [&](const NetworkStanding& one) { return one.told != standings.front().told; });
    if (other == standings.end()) return standings.front().told;
    std::fprintf(stderr, "tollbar: %s: rank 0 was told the network '%s' and rank %ld '%s'; p2p for all\n", name,
                 names[standings.front().told].data(), static_cast<long>(other - standings.begin()),
                 names[other->told].data());
    return TOLLBAR_NETWORK_P2P;
}

std::string why_no_cards(const std::vector<NetworkStanding>& standings, const std::vector<Rank>& leaders,
                         const std::vector<std::string>& hosts) {
    std::map<std::uint32_t, std::size_t> node_at;
    for (std::size_t node = 0; node < leaders.size(); ++node) {
        const NetworkStanding& standing = standings[leaders[node]];
        const std::string who = named(leaders[node], hosts[node]);
        if (standing.address == 0)
            return who + " has no daemon of a card (" + std::strerror(standing.error) + "; `tollbar nic up` there)";
        const auto [other, fresh] = node_at.try_emplace(standing.address, node);
        if (!fresh)
            return named(leaders[other->second], hosts[other->second]) + " and " + who + " have the same card, " +
                   nic::text_of_address(standing.address);
    }
    return "";
}

void say_by_messages(const char* name, const std::string& why, Asked asked) {
    static std::mutex mutex;
    static std::set<std::string> said;
    if (asked == Asked::no && std::getenv("TOLLBAR_VERBOSE") == nullptr) return;
    const std::lock_guard lock(mutex);
    if (said.insert(why).second)
        std::fprintf(stderr, "tollbar: %s: not on network cards but by messages: %s\n", name, why.c_str());
}

}  // namespace tollbar::mpi
