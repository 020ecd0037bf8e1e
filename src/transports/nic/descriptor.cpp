// SPDX-License-Identifier: Apache-2.0
// Headers are written out in full, checksum included: a NIC only copies them.
#include "descriptor.hpp"

#include "plan/wording.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>

#include <netinet/in.h>

namespace tollbar::detail::nic {

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
    const Endpoint here = directory(self);
    group.program = {.steps = static_cast<toll_u32>(steps.size()), .signals = 0, .awaits = 0};
    for (std::size_t s = 0; s < steps.size(); ++s) {
        toll_nic_step& step = group.steps[s];
        step.step = steps[s];
        if (steps[s].to != TOLLBAR_NOBODY) {
            group.program.signals |= 1U << s;
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

std::string nic_limit(Rank rank, Rank ranks, std::size_t steps) {
    if (steps > toll_nic_steps)
        return worded({"rank ", rank, " has ", steps, " steps, a NIC runs up to ", std::size_t{toll_nic_steps}});
    if (steps == 0 && ranks > toll_counted)
        return worded({"a NIC counts up to ", std::size_t{toll_counted}, " members, not ", ranks});
    return "";
}

toll_member member_of(const toll_identity& who, Rank rank, Rank ranks, std::uint64_t drawn, toll_shape shape) {
    toll_member self{};
    toll_become(&self, &who, drawn, rank, ranks, std::min<Rank>(ranks, toll_counted), shape);
    return self;
}

toll_group describe(const toll_member& self, std::uint64_t before, const NicSlot& slot,
                    std::span<const toll_step> steps, const FindEndpoint& directory) {
    const std::string limit = nic_limit(self.rank, self.ranks, steps.size());
    if (!limit.empty()) throw std::invalid_argument(limit);
    toll_group group{};
    group.self = self;
    group.interface = slot.interface;
    group.slot = slot.number;

    const Rank other = self.rank == 0 ? 1 : 0;
    const Endpoint here = directory(self.rank);
    constexpr Endpoint everybody{.hardware = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, .address = INADDR_BROADCAST};
    group.note = header(directory(other), here, toll_port, slot.port);
    group.broadcast = header(here, everybody, toll_port, toll_port);
    group.admits = header(here, directory(self.rank == 0 ? 0 : toll_admits_of(self.rank)), toll_port, toll_port);
    for (Rank rank = 0; rank < self.members; ++rank)
        group.member[rank] = header(here, directory(rank), toll_port, toll_port);

    group.program = {.steps = 1, .signals = 0, .awaits = 1};
    for (toll_nic_step& step : group.steps) step.step = {TOLLBAR_NOBODY, TOLLBAR_NOBODY, 0, 0};
    if (!steps.empty()) set_program(group, steps, self.rank, directory);

    group.state.at = toll_at(before, group.program.steps);
    std::ranges::fill(group.state.signalled, before);
    std::ranges::fill(group.state.counted, before << 32);
    group.state.released = before;
    std::ranges::fill(group.entered, before);
    return group;
}

}  // namespace tollbar::detail::nic
