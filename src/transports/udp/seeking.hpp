// SPDX-License-Identifier: Apache-2.0
// Datagrams between members of a group that know each other's hosts and no ports.
#pragma once

#include "datagrams.hpp"
#include "runtime/siphash.h"

#include <array>
#include <cstdint>

namespace tollbar {

/// A member has one of a few ports that its group's key, number and its rank choose, so that nobody without the key
/// knows which to take away; or it is a network card, which has toll_port. To a member that has not been heard of a
/// datagram goes to all of these; from then on to where it was heard from.
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

    /// Of that rank, in the order in which it tries them; host byte order.
    static std::array<std::uint16_t, tries> ports(const toll_key& key, std::uint32_t group, Rank rank) noexcept;

private:
    struct Peer {
        std::uint32_t address;
        std::uint16_t port = 0;  ///< where it was heard from, network byte order; 0: not yet
    };

    void send_to(const Peer& peer, std::uint16_t port, std::span<const std::byte> datagram) noexcept;

    toll_key key_;
    std::uint32_t group_;
    File socket_;
    std::vector<Peer> peers_;
    std::unordered_map<std::uint32_t, Rank> ranks_;  ///< by address
    std::uint16_t latest_ = 0;                       ///< the port that the latest datagram came from
};

}  // namespace tollbar
