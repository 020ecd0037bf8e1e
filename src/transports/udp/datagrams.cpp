// SPDX-License-Identifier: Apache-2.0
// Datagrams over one UDP socket.
#include "datagrams.hpp"

#include "plan/wording.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

namespace tollbar::detail {

namespace {

const sockaddr* generic(const UdpAddress& address) noexcept { return reinterpret_cast<const sockaddr*>(&address); }

std::uint64_t key_of(const UdpAddress& address) noexcept {
    return std::uint64_t{address.sin_addr.s_addr} << 16 | address.sin_port;
}

}  // namespace

UdpAddress udp_address(std::uint32_t address, std::uint16_t port) noexcept {
    UdpAddress made{};
    made.sin_family = AF_INET;
    made.sin_addr.s_addr = address;
    made.sin_port = htons(port);
    return made;
}

UdpAddress udp_address(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    const std::string host = text.substr(0, colon);
    const std::string port = colon == text.npos ? "" : text.substr(colon + 1);
    std::uint16_t number = 0;
    const auto read = std::from_chars(port.data(), port.data() + port.size(), number);
    if (host.empty() || read.ec != std::errc() || read.ptr != port.data() + port.size())
        throw std::invalid_argument(worded({"'", text, "' is not an address of the form HOST:PORT"}));
    addrinfo hints{};
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo* found = nullptr;
    if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0)
        throw std::invalid_argument(worded({"'", text, "': ", gai_strerror(error)}));
    UdpAddress address{};
    std::copy_n(reinterpret_cast<const std::byte*>(found->ai_addr), sizeof address,
                reinterpret_cast<std::byte*>(&address));
    freeaddrinfo(found);
    return address;
}

std::string to_text(const UdpAddress& address) {
    char host[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &address.sin_addr, host, sizeof host);
    return worded({host, ":", ntohs(address.sin_port)});
}

void refuse_mixed_loopback(const std::vector<UdpAddress>& addresses) {
    const auto is_own = [](const UdpAddress& address) { return ntohl(address.sin_addr.s_addr) >> 24 == 127; };
    const auto own = std::ranges::find_if(addresses, is_own);
    if (own == addresses.end() || std::ranges::all_of(addresses, is_own)) return;
    throw std::invalid_argument(
        worded({"the address of rank ", static_cast<std::size_t>(own - addresses.begin()), ", ", to_text(*own),
                ", is on the loopback, where no other host is: give the address of its interface"}));
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
    : socket_(std::move(socket)), addresses_(std::move(addresses)) {
    for (Rank rank = 0; rank < addresses_.size(); ++rank)
        if (!ranks_.emplace(key_of(addresses_[rank]), rank).second)
            throw std::invalid_argument("two ranks have the address " + to_text(addresses_[rank]));
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
    const auto known = ranks_.find(key_of(from));
    const auto nobody = static_cast<Rank>(addresses_.size());
    return Received{static_cast<std::size_t>(got), known == ranks_.end() ? nobody : known->second};
}

void UdpDatagrams::sleep(Deadline deadline) noexcept { sleep_until_readable(socket_, deadline); }

}  // namespace tollbar::detail
