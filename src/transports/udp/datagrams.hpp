// SPDX-License-Identifier: Apache-2.0
// A network as a barrier needs it: datagrams between ranks that may be lost, doubled, overtaken or altered.
#pragma once

#include "base/files.hpp"

#include <tollbar/plan.hpp>
#include <tollbar/detail/sync.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <netinet/in.h>

namespace tollbar::detail {

/// One rank's view of the network. One thread at a time.
class Datagrams {
public:
    virtual ~Datagrams() = default;

    /// Never blocks; what cannot be sent now is lost.
    virtual void send(Rank to, std::span<const std::byte> datagram) noexcept = 0;

    struct Received {
        std::size_t size;  ///< of the datagram, also when it was longer than the buffer
        Rank from;         ///< its address's; ranks() for the address of none
    };

    /// The next datagram, if there is one.
    virtual std::optional<Received> receive(std::span<std::byte> buffer) noexcept = 0;

    /// The datagram received last was made by that rank, for this one: it has the job's key.
    virtual void proved(Rank) noexcept {}

    /// Sleeps until a datagram is there or the deadline has passed, or for no reason.
    virtual void sleep(Deadline deadline) noexcept = 0;
};

/// An IPv4 address and port.
using UdpAddress = sockaddr_in;

/// An address from an IPv4 address in network byte order, and a port.
UdpAddress udp_address(std::uint32_t address, std::uint16_t port) noexcept;

/// "10.0.0.3:7777", or a host's name in front of the colon. Throws std::invalid_argument.
UdpAddress udp_address(const std::string& text);

std::string to_text(const UdpAddress& address);

/// Throws std::invalid_argument that names a rank when some are on the loopback, where no other host is, and some are
/// not: the name of the own host is often written there (127.0.1.1).
void refuse_mixed_loopback(const std::vector<UdpAddress>& addresses);

/// A UDP socket that never blocks, bound to that address; port 0 takes any. Throws std::system_error.
File udp_socket(const UdpAddress& address);

/// The address that a socket is bound to, with the port it got. Throws std::system_error.
UdpAddress address_of(const File& socket);

/// Datagrams over one socket to ranks at known addresses.
class UdpDatagrams final : public Datagrams {
public:
    /// `addresses` has one of each rank.
    UdpDatagrams(File socket, std::vector<UdpAddress> addresses);

    void send(Rank to, std::span<const std::byte> datagram) noexcept override;
    std::optional<Received> receive(std::span<std::byte> buffer) noexcept override;
    void sleep(Deadline deadline) noexcept override;

private:
    File socket_;
    std::vector<UdpAddress> addresses_;
    std::unordered_map<std::uint64_t, Rank> ranks_;  ///< by address and port
};

}  // namespace tollbar::detail
