// SPDX-License-Identifier: Apache-2.0
// Datagrams over one UDP socket.
#include "datagrams.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

namespace tollbar {

namespace {

const sockaddr* generic(const UdpAddress& address) noexcept { return reinterpret_cast<const sockaddr*>(&address); }

std::pair<std::uint32_t, std::uint16_t> key_of(const UdpAddress& address) noexcept {
    return {address.sin_addr.s_addr, address.sin_port};
}

}  // namespace

UdpAddress udp_address(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    const std::string host = text.substr(0, colon);
    const std::string port = colon == text.npos ? "" : text.substr(colon + 1);
    std::uint16_t number = 0;
    const auto read = std::from_chars(port.data(), port.data() + port.size(), number);
    if (host.empty() || read.ec != std::errc() || read.ptr != port.data() + port.size())
        throw std::invalid_argument("'" + text + "' is not an address of the form HOST:PORT");
    addrinfo hints{};
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo* found = nullptr;
    if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0)
        throw std::invalid_argument("'" + text + "': " + gai_strerror(error));
    UdpAddress address{};
    std::copy_n(reinterpret_cast<const std::byte*>(found->ai_addr), sizeof address,
                reinterpret_cast<std::byte*>(&address));
    freeaddrinfo(found);
    return address;
}

std::string to_text(const UdpAddress& address) {
    char host[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &address.sin_addr, host, sizeof host);
    return std::string(host) + ":" + std::to_string(ntohs(address.sin_port));
}

File udp_socket(const UdpAddress& address) {
    File made(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!made || bind(made.number(), generic(address), sizeof address) != 0)
        throw_errno("UDP socket at " + to_text(address));
    return made;
}

UdpAddress address_of(const File& socket) {
    UdpAddress address{};
    socklen_t size = sizeof address;
    if (getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &size) != 0) throw_errno("UDP socket");
    return address;
}

UdpDatagrams::UdpDatagrams(File socket, std::vector<UdpAddress> addresses)
    : socket_(std::move(socket)), addresses_(std::move(addresses)), by_address_(addresses_.size()) {
    for (Rank rank = 0; rank < by_address_.size(); ++rank) by_address_[rank] = rank;
    const auto place = [&](Rank rank) { return key_of(addresses_[rank]); };
    std::ranges::sort(by_address_, {}, place);
    const auto twice = std::ranges::adjacent_find(by_address_, {}, place);
    if (twice != by_address_.end())
        throw std::invalid_argument("two ranks have the address " + to_text(addresses_[*twice]));
}

void UdpDatagrams::send(Rank to, std::span<const std::byte> datagram) noexcept {
    sendto(socket_.number(), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL, generic(addresses_[to]),
           sizeof addresses_[to]);
}

std::optional<Datagrams::Received> UdpDatagrams::receive(std::span<std::byte> buffer) noexcept {
    UdpAddress from{};
    socklen_t size = sizeof from;
    const ssize_t got = recvfrom(socket_.number(), buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_TRUNC,
                                 reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0) return std::nullopt;
    return Received{static_cast<std::size_t>(got), rank_at(from)};
}

void UdpDatagrams::sleep(Deadline deadline) noexcept { sleep_until_readable(socket_, deadline); }

Rank UdpDatagrams::rank_at(const UdpAddress& address) const noexcept {
    const auto found = std::ranges::lower_bound(by_address_, key_of(address), {},
                                                [&](Rank rank) { return key_of(addresses_[rank]); });
    const bool known = found != by_address_.end() && key_of(addresses_[*found]) == key_of(address);
    return known ? *found : static_cast<Rank>(addresses_.size());
}

}  // namespace tollbar
