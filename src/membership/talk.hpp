// SPDX-License-Identifier: Apache-2.0
// The requests of a member and the answers of its NIC's daemon over a Unix socket, one packet each.
#pragma once

#include "wire/frame.h"
#include "transports/nic/group.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tollbar::detail::nic {

/// "tn", its version, and that of the frames: the two that talk must understand each other's as well.
inline constexpr std::uint32_t talk_magic = 0x746e3300U | (toll_magic & 0xffU);
inline constexpr std::uint32_t most_ranks = 16384;

enum class Verb : std::uint32_t { join, status, stop, address };

/// Exactly its size in bytes. Only after `join` there are more: a RankAddress for each rank of known_ranks(), by rank.
struct Request {
    std::uint32_t magic = talk_magic;
    Verb verb;
    toll_key key = {};
    std::uint64_t digest = 0;  ///< of the plan, size and hosts that all members must agree on
    std::uint64_t before = 0;  ///< the episode before the first
    std::uint32_t group = 0;
    std::uint32_t rank = 0;
    std::uint32_t ranks = 0;
    std::uint32_t port = 0;                              ///< of the member's socket
    std::uint32_t shape = toll_plan;                     ///< enum toll_shape
    std::uint32_t steps = 0;                             ///< of a plan; 0 for a gather or a switch
    std::array<toll_step, toll_nic_steps> program = {};  ///< the rank's own steps, nobody else's
};

struct RankAddress {
    std::uint32_t rank;
    std::uint32_t address;  ///< IPv4, network byte order
};

/// The ranks that a NIC counts, two peers a step, the rank that admits the member, and the member itself.
inline constexpr std::size_t most_addresses = toll_counted + 2 * toll_nic_steps + 2;

/// Followed by a line of text that says what is wrong, by the status as JSON, or by the interface's address. With a
/// join that went well come two descriptors: the group, the member's own page. The connection stays open as long as the
/// member is there.
struct Answer {
    std::uint32_t magic = talk_magic;
    std::int32_t error = 0;  ///< 0 or an errno value
};

inline constexpr std::size_t most_text = 65536;
inline constexpr std::size_t most_files = 4;

static_assert(sizeof(Request) == 64 + toll_nic_steps * sizeof(toll_step) && sizeof(RankAddress) == 8,
              "no padding: the layout is the protocol");

}  // namespace tollbar::detail::nic
