// SPDX-License-Identifier: Apache-2.0
// libFuzzer: whatever comes as a packet from a client, what passes the checks can be made a group of, and the group's
// steps, members and addresses are among those that were asked for.
#include "nicd/parsed_request.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::nic;

namespace {

void demand(bool holds) {
    if (!holds) std::abort();
}

/// The input becomes a request more often when what is hard to guess is right: magic, verb, and the ranks of addresses.
std::vector<std::byte> helped(std::span<const std::byte> input) {
    std::vector<std::byte> packet(input.begin(), input.end());
    if (packet.size() < sizeof(Request) + 1 || std::to_integer<unsigned>(packet.back()) < 64) return packet;
    packet.pop_back();
    Request request{.verb = Verb::join};
    std::memcpy(&request, packet.data(), sizeof request);
    request.magic = talk_magic;
    request.verb = Verb::join;
    request.ranks = 2 + request.ranks % 200;
    request.rank %= request.ranks;
    request.shape %= 4;
    request.steps %= toll_nic_steps + 2;
    for (toll_step& step : request.program)
        for (toll_u32* peer : {&step.to, &step.from})
            if (*peer != TOLLBAR_NOBODY) *peer %= request.ranks;
    const auto steps = std::span(request.program).first(std::min<std::size_t>(request.steps, toll_nic_steps));
    packet.resize(sizeof request);
    std::memcpy(packet.data(), &request, sizeof request);
    std::uint32_t salt = 0;
    for (const Rank rank : known_ranks(steps, request.rank, request.ranks)) {
        const RankAddress peer{.rank = rank, .address = 0x0a000000 + salt++ * (request.port % 3 == 0 ? 0 : 1)};
        const auto bytes = std::as_bytes(std::span(&peer, 1));
        packet.insert(packet.end(), bytes.begin(), bytes.end());
    }
    return packet;
}

void make_group(const ParsedRequest& asked) {
    const Request& request = asked.request;
    std::set<Rank> wanted;
    const auto directory = [&](Rank rank) {
        const auto peer = std::ranges::lower_bound(asked.addresses, rank, {}, &RankAddress::rank);
        demand(peer != asked.addresses.end() && peer->rank == rank);
        wanted.insert(rank);
        return Endpoint{.hardware = {}, .address = peer->address};
    };
    const toll_member self = member_of(toll_identity_of(request.key, request.group, request.digest), request.rank,
                                       request.ranks, 1, static_cast<toll_shape>(request.shape));
    const NicSlot slot{.interface = 1, .number = 0, .port = static_cast<std::uint16_t>(request.port)};
    const toll_group group = describe(self, request.before, slot, asked.steps(), directory);
    demand(wanted.size() == asked.addresses.size());
    demand(group.program.steps >= 1 && group.program.steps <= toll_nic_steps);
    demand(group.self.members <= toll_counted && group.self.members <= group.self.ranks &&
           group.self.rank < group.self.ranks);
    demand(asked.own().rank == request.rank);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto packet = helped(std::as_bytes(std::span(data, size)));
    const auto asked = parse(packet);
    if (!asked || asked->request.verb != Verb::join) return 0;
    try {
        check_join(*asked);
    } catch (const c_door::Refusal&) {
        return 0;
    }
    make_group(*asked);
    return 0;
}
