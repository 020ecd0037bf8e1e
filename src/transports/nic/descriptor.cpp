// SPDX-License-Identifier: Apache-2.0
// Headers are written out in full, checksum included: a card only copies them.
#include "descriptor.hpp"

#include "runtime/steps.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>

#include <netinet/in.h>

namespace tollbar::nic {

namespace {

constexpr std::size_t ip_at = 14;
constexpr std::size_t udp_at = 34;

void put16(toll_header& header, std::size_t at, std::uint16_t value) {
    header.bytes[at] = static_cast<std::uint8_t>(value >> 8);
    header.bytes[at + 1] = static_cast<std::uint8_t>(value);
}

/// RFC 1071, over the header as it is.
std::uint16_t ip_checksum(const toll_header& header) {
    std::uint32_t sum = 0;
    for (std::size_t at = ip_at; at < udp_at; at += 2) sum += header.bytes[at] * 256U + header.bytes[at + 1];
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

void set_program(toll_group& group, const Plan& plan, Rank self, const FindEndpoint& directory) {
    const std::vector<toll_step> steps = compile_steps(plan, self);
    if (steps.size() > toll_nic_steps)
        throw std::invalid_argument("rank " + std::to_string(self) + " of " + plan.name() + " has " +
                                    std::to_string(steps.size()) + " steps, a card runs up to " +
                                    std::to_string(toll_nic_steps));
    const Endpoint here = directory(self);
    group.program = {.steps = static_cast<toll_u32>(steps.size()), .tells = 0, .awaits = 0};
    for (std::size_t s = 0; s < steps.size(); ++s) {
        toll_nic_step& step = group.steps[s];
        step.step = steps[s];
        if (steps[s].to != TOLLBAR_NOBODY) {
            group.program.tells |= 1U << s;
            step.to = header(here, directory(steps[s].to), toll_port, toll_port);
        }
        if (steps[s].from != TOLLBAR_NOBODY) {
            group.program.awaits |= 1U << s;
            step.from = header(here, directory(steps[s].from), toll_port, toll_port);
        }
    }
}

}  // namespace

toll_header header(const Endpoint& from, const Endpoint& to, std::uint16_t from_port, std::uint16_t to_port) {
    toll_header header{};
    std::ranges::copy(to.hardware, header.bytes);
    std::ranges::copy(from.hardware, header.bytes + 6);
    put16(header, 12, 0x0800);
    header.bytes[ip_at] = 0x45;
    put16(header, ip_at + 2, toll_packet_bytes - ip_at);
    put16(header, ip_at + 6, 0x4000);  // never in fragments
    header.bytes[ip_at + 8] = 64;
    header.bytes[ip_at + 9] = IPPROTO_UDP;
    std::memcpy(header.bytes + ip_at + 12, &from.address, 4);
    std::memcpy(header.bytes + ip_at + 16, &to.address, 4);
    put16(header, ip_at + 10, ip_checksum(header));
    put16(header, udp_at, from_port);
    put16(header, udp_at + 2, to_port);
    put16(header, udp_at + 4, 8 + sizeof(toll_frame));
    return header;  // no UDP checksum: the frame has its own, over more bits
}

std::vector<Rank> known_ranks(const std::optional<Plan>& plan, Rank self, Rank ranks) {
    std::set<Rank> known{self};
    for (Rank rank = 0; rank < std::min<Rank>(ranks, toll_counted); ++rank) known.insert(rank);
    if (plan)
        for (const Step step : plan->program(self)) known.insert(step.peer);
    return {known.begin(), known.end()};
}

toll_group describe(const Membership& membership, toll_shape shape, const std::optional<Plan>& plan,
                    const FindEndpoint& directory) {
    toll_group group{};
    group.key = toll_net64(membership.key);
    group.id = toll_net32(membership.group);
    group.rank = membership.rank;
    group.ranks = membership.ranks;
    group.shape = shape;
    group.root = 0;
    group.owner = membership.owner;
    group.interface = membership.interface;
    group.slot = membership.slot;
    group.members = std::min<Rank>(membership.ranks, toll_counted);

    const Endpoint here = directory(membership.rank);
    const Endpoint peer = directory(membership.rank == 0 ? 1 : 0);
    group.note = header(peer, here, toll_port, membership.port);
    constexpr Endpoint everybody{.hardware = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, .address = INADDR_BROADCAST};
    group.broadcast = header(here, everybody, toll_port, toll_port);
    for (Rank rank = 0; rank < group.members; ++rank)
        group.member[rank] = header(here, directory(rank), toll_port, toll_port);

    if (plan) {
        set_program(group, *plan, membership.rank, directory);
    } else {
        if (membership.ranks > toll_counted)
            throw std::invalid_argument("a card counts up to " + std::to_string(toll_counted) + " members, not " +
                                        std::to_string(membership.ranks));
        group.program = {.steps = 1, .tells = 0, .awaits = 1};
        for (toll_nic_step& step : group.steps) step.step = {TOLLBAR_NOBODY, TOLLBAR_NOBODY, 0, 0};
    }

    group.state.at = toll_place(membership.before, group.program.steps);
    std::ranges::fill(group.state.told, membership.before);
    std::ranges::fill(group.state.counted, membership.before << 32);
    group.state.released = membership.before;
    std::ranges::fill(group.heard, membership.before);
    return group;
}

}  // namespace tollbar::nic
