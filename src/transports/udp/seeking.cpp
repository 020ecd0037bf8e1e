// SPDX-License-Identifier: Apache-2.0
#include "seeking.hpp"

#include "wire/frame.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

#include <sys/socket.h>

namespace tollbar::detail {

namespace {

/// The ports of net.ipv4.ip_local_port_range, which a firewall has to let in anyway for wake-ups.
constexpr std::uint16_t first_port = 32768;
constexpr std::uint16_t last_port = 60999;

}  // namespace

std::array<std::uint16_t, SeekingDatagrams::tries> SeekingDatagrams::ports(const toll_key& key, std::uint32_t group,
                                                                           Rank rank) noexcept {
    std::array<std::uint16_t, tries> all{};
    for (unsigned i = 0; i < tries; ++i) {
        const std::array<char, 4> what{'p', 'o', 'r', 't'};
        std::array<std::uint32_t, 4> message{0, group, rank, i};
        std::memcpy(message.data(), what.data(), what.size());
        all[i] = static_cast<std::uint16_t>(first_port + toll_siphash(key, message.data(), sizeof message) %
                                                             (last_port - first_port + 1));
    }
    return all;
}

SeekingDatagrams::SeekingDatagrams(const toll_key& key, std::uint32_t group, Rank self,
                                   const std::vector<std::uint32_t>& addresses)
    : key_(key), group_(group) {
    for (const std::uint32_t address : addresses) {
        if (!ranks_.emplace(address, static_cast<Rank>(peers_.size())).second)
            throw std::invalid_argument("two ranks have the address " + to_text(udp_address(address, 0)));
        peers_.push_back({.address = address});
    }
    for (const std::uint16_t port : ports(key, group, self)) {
        try {
            socket_ = udp_socket(udp_address(addresses[self], port));
            return;
        } catch (const std::system_error& error) {
            if (error.code().value() != EADDRINUSE) throw;
        }
    }
    throw_errno("all UDP ports that this rank may have are taken: leave, and have all ranks join another group",
                EADDRINUSE);
}

void SeekingDatagrams::send_to(const Peer& peer, std::uint16_t port, std::span<const std::byte> datagram) noexcept {
    const UdpAddress to = udp_address(peer.address, port);
    sendto(socket_.number(), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
           reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

void SeekingDatagrams::send(Rank to, std::span<const std::byte> datagram) noexcept {
    const Peer& peer = peers_[to];
    if (peer.port != 0) return send_to(peer, peer.port, datagram);
    send_to(peer, toll_port, datagram);
    for (const std::uint16_t port : ports(key_, group_, to)) send_to(peer, port, datagram);
}

std::optional<Datagrams::Received> SeekingDatagrams::receive(std::span<std::byte> buffer) noexcept {
    UdpAddress from{};
    socklen_t size = sizeof from;
    const ssize_t got = recvfrom(socket_.number(), buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_TRUNC,
                                 reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0) return std::nullopt;
    latest_ = ntohs(from.sin_port);
    const auto known = ranks_.find(from.sin_addr.s_addr);
    const auto nobody = static_cast<Rank>(peers_.size());
    return Received{static_cast<std::size_t>(got), known == ranks_.end() ? nobody : known->second};
}

void SeekingDatagrams::proved(Rank from) noexcept {
    if (from < peers_.size()) peers_[from].port = latest_;
}

void SeekingDatagrams::sleep(Deadline deadline) noexcept { sleep_until_readable(socket_, deadline); }

}  // namespace tollbar::detail
