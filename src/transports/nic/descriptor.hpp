// SPDX-License-Identifier: Apache-2.0
// What a card is told of a group: a plan's steps and the network addresses of those it has to do with, as the card's
// programs read them.
#pragma once

#include "group.h"

#include <tollbar/plan.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tollbar::nic {

/// Where frames to a card go.
struct Endpoint {
    std::array<std::uint8_t, 6> hardware;
    std::uint32_t address;  ///< IPv4, network byte order
};

/// One member's place in a group.
struct Membership {
    toll_identity who;
    Rank rank;
    Rank ranks;
    std::uint64_t before;     ///< the episode before the first
    std::uint64_t drawn;      ///< random, not 0: rank 0's is the group's incarnation
    std::uint32_t interface;  ///< index
    std::uint32_t slot;
    std::uint16_t port;  ///< of the member's own socket, where wake-ups go
};

/// Finds the card of a rank.
using FindEndpoint = std::function<Endpoint(Rank)>;

/// The ranks that `describe` asks the directory for, ascending: the member itself, the peers of its steps, who admits
/// it, and the first toll_counted ranks.
std::vector<Rank> known_ranks(std::span<const toll_step> steps, Rank self, Rank ranks);

/// The descriptor of a plan, of which it takes the member's own steps, or, without steps, of a gather at rank 0's card
/// or in the switch. Throws std::invalid_argument when a card has not enough steps, or cannot count so many.
toll_group describe(const Membership& membership, toll_shape shape, std::span<const toll_step> steps,
                    const FindEndpoint& directory);

/// The header of a frame between two cards, or to a socket.
toll_header header(const Endpoint& from, const Endpoint& to, std::uint16_t from_port, std::uint16_t to_port);

}  // namespace tollbar::nic
