// SPDX-License-Identifier: Apache-2.0
// Headers are written out in full, checksum included: a card only copies them.
#include "descriptor.hpp"

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

void set_program(toll_group& group, std::span<const toll_step> steps, Rank self, const FindEndpoint& directory) {
    if (steps.size() > toll_nic_steps)
        throw std::invalid_argument("rank " + std::to_string(self) + " has " + std::to_string(steps.size()) +
                                    " steps, a card runs up to " + std::to_string(toll_nic_steps));
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
    return header;  // no UDP checksum: the frame has its MAC
}

std::vector<Rank> known_ranks(std::span<const toll_step> steps, Rank self, Rank ranks) {
    std::set<Rank> known{self};
    if (self != 0) known.insert(toll_admits_of(self));
    for (Rank rank = 0; rank < std::min<Rank>(ranks, toll_counted); ++rank) known.insert(rank);
    for (const toll_step& step : steps)
        for (const Rank peer : {step.to, step.from})
            if (peer != TOLLBAR_NOBODY) known.insert(peer);
    return {known.begin(), known.end()};
}

toll_group describe(const Membership& membership, toll_shape shape, std::span<const toll_step> steps,
                    const FindEndpoint& directory) {
    toll_group group{};
    group.who = membership.who;
    group.drawn = membership.drawn;
    group.by_drawn = toll_sealing(&group.who, membership.drawn, group.who.digest);
    if (membership.rank == 0) {
        group.incarnation = membership.drawn;
        group.sealing = group.by_drawn;
    }
    group.rank = membership.rank;
    group.ranks = membership.ranks;
    group.shape = shape;
    group.root = 0;
    group.interface = membership.interface;
    group.slot = membership.slot;
    group.members = std::min<Rank>(membership.ranks, toll_counted);

    const Endpoint here = directory(membership.rank);
    const Endpoint peer = directory(membership.rank == 0 ? 1 : 0);
    group.note = header(peer, here, toll_port, membership.port);
    constexpr Endpoint everybody{.hardware = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, .address = INADDR_BROADCAST};
    group.broadcast = header(here, everybody, toll_port, toll_port);
    group.admits = header(here, directory(membership.rank == 0 ? 0 : toll_admits_of(membership.rank)), toll_port,
                          toll_port);
    for (Rank rank = 0; rank < group.members; ++rank)
        group.member[rank] = header(here, directory(rank), toll_port, toll_port);

    if (shape == toll_plan) {
        set_program(group, steps, membership.rank, directory);
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
