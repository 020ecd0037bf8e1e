// SPDX-License-Identifier: Apache-2.0
// Datagrams between members of a group that know each other's hosts and no ports.
#pragma once

#include "datagrams.hpp"
#include "wire/siphash.h"

#include <array>
#include <cstdint>

namespace tollbar::detail {

/// A member has one of a few ports that its group's key, number and its rank choose, so that nobody without the key
/// knows which to take away; or it is a NIC, which has toll_port. A datagram to a member that has sent
/// none yet goes to all of these; later ones go where its own came from.
class SeekingDatagrams final : public Datagrams {
public:
    static constexpr unsigned tries = 4;

    /// `addresses` has each rank's, network byte order. Throws std::system_error when all of this rank's ports are
    /// taken, std::invalid_argument when two ranks have the same address.
    SeekingDatagrams(const toll_key& key, std::uint32_t group, Rank self, const std::vector<std::uint32_t>& addresses);

    void send(Rank to, std::span<const std::byte> datagram) noexcept override;
    std::optional<Received> receive(std::span<std::byte> buffer) noexcept override;
    void proved(Rank from) noexcept override;
    void sleep(Deadline deadline) noexcept override;

    /// The ports of that rank, in the order in which it tries them; host byte order.
    static std::array<std::uint16_t, tries> ports(const toll_key& key, std::uint32_t group, Rank rank) noexcept;

private:
    struct Peer {
        std::uint32_t address;
        std::uint16_t port = 0;  ///< that its datagrams come from; 0: none yet
    };

    void send_to(const Peer& peer, std::uint16_t port, std::span<const std::byte> datagram) noexcept;

    toll_key key_;
    std::uint32_t group_;
    File socket_;
    std::vector<Peer> peers_;
    std::unordered_map<std::uint32_t, Rank> ranks_;  ///< by address
    std::uint16_t latest_ = 0;                       ///< the port that the latest datagram came from
};

}  // namespace tollbar::detail
