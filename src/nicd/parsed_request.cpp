// SPDX-License-Identifier: Apache-2.0
#include "parsed_request.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace tollbar::detail::nic {

namespace {

using c_door::Refusal;

Refusal wrong(const std::string& why) { return {EINVAL, why}; }

bool is_peer(toll_u32 peer, const Request& request) {
    return peer == TOLLBAR_NOBODY || (peer < request.ranks && peer != request.rank);
}

void check_program(const Request& request) {
    if (request.shape != toll_plan) {
        if (request.shape != toll_star && request.shape != toll_switch)
            throw wrong("there is no such shape of a group");
        if (request.steps != 0) throw wrong("what is counted has no steps");
    } else if (request.steps == 0) {
        throw wrong("a plan has steps");
    }
    const std::string limit = nic_limit(request.rank, request.ranks, request.steps);
    if (!limit.empty()) throw wrong(limit);
    for (const toll_step& step : std::span(request.program).first(request.steps))
        if (!is_peer(step.to, request) || !is_peer(step.from, request))
            throw wrong("a step's peer is not another rank of the group");
}

}  // namespace

const RankAddress& ParsedRequest::own() const noexcept {
    return *std::ranges::find(addresses, request.rank, &RankAddress::rank);
}

std::optional<ParsedRequest> parse(std::span<const std::byte> packet) {
    ParsedRequest asked{.request = {.verb = Verb::status}, .addresses = {}};
    if (packet.size() < sizeof asked.request || packet.size() > most_asked) return std::nullopt;
    std::memcpy(&asked.request, packet.data(), sizeof asked.request);
    if (asked.request.magic != talk_magic || asked.request.verb > Verb::address) return std::nullopt;
    const auto rest = packet.subspan(sizeof asked.request);
    if (rest.size() % sizeof(RankAddress) != 0 || (asked.request.verb != Verb::join && !rest.empty()))
        return std::nullopt;
    asked.addresses.resize(rest.size() / sizeof(RankAddress));
    if (!rest.empty()) std::memcpy(asked.addresses.data(), rest.data(), rest.size());
    return asked;
}

void check_join(const ParsedRequest& asked) {
    const Request& request = asked.request;
    if (request.ranks < 2 || request.ranks > most_ranks || request.rank >= request.ranks)
        throw wrong("a group has 2 to " + std::to_string(most_ranks) + " ranks, and its member is one of them");
    if (request.port == 0 || request.port > 0xffff) throw wrong("the member's port is not one");
    if (request.key.low == 0 && request.key.high == 0) throw wrong("the key is 0");
    check_program(request);
    if (!std::ranges::equal(asked.addresses, known_ranks(asked.steps(), request.rank, request.ranks), {},
                            &RankAddress::rank))
        throw wrong("an address is missing, or is of a rank that the member has nothing to do with");
    std::vector<std::uint32_t> addresses;
    for (const RankAddress& one : asked.addresses) addresses.push_back(one.address);
    std::ranges::sort(addresses);
    if (std::ranges::adjacent_find(addresses) != addresses.end())
        throw wrong("two ranks have the same address, and a NIC has one member in a group");
}

}  // namespace tollbar::detail::nic
