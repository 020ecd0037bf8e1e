// SPDX-License-Identifier: Apache-2.0
// A group as a NIC's programs read it: a plan's steps and the network addresses of the ranks that they are about.
#pragma once

#include "group.h"

#include <tollbar/plan.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tollbar::detail::nic {

/// The address of a NIC.
struct Endpoint {
    std::array<std::uint8_t, 6> hardware;
    std::uint32_t address;  ///< IPv4, network byte order
};

/// A member's part of a NIC.
struct NicSlot {
    std::uint32_t interface;  ///< index
    std::uint32_t number;
    std::uint16_t port;  ///< of the member's own socket, where wake-ups go
};

/// Finds the NIC of a rank.
using FindEndpoint = std::function<Endpoint(Rank)>;

/// The ranks that `describe` asks the directory for, ascending: the member itself, the peers of its steps, the rank
/// that admits it, and the first toll_counted ranks.
std::vector<Rank> known_ranks(std::span<const toll_step> steps, Rank self, Rank ranks);

/// Why a NIC does not run that many steps of a rank or, without steps, count that many ranks; "" when it does.
std::string nic_limit(Rank rank, Rank ranks, std::size_t steps);

/// The member as which a process begins; see toll_become().
toll_member member_of(const toll_identity& who, Rank rank, Rank ranks, std::uint64_t drawn, toll_shape shape);

/// The descriptor of a plan, of which it takes the member's own steps, or, without steps, of a gather at rank 0's NIC
/// or in the switch. `before` is the episode before the first. Throws std::invalid_argument for a nic_limit().
toll_group describe(const toll_member& self, std::uint64_t before, const NicSlot& slot,
                    std::span<const toll_step> steps, const FindEndpoint& directory);

/// The header of a frame between two NICs, or to a socket.
toll_header header(const Endpoint& from, const Endpoint& to, std::uint16_t from_port, std::uint16_t to_port);

}  // namespace tollbar::detail::nic
