// SPDX-License-Identifier: Apache-2.0
// What a member and the daemon of its card say to each other over a Unix socket, one packet each.
#pragma once

#include "transports/wire/frame.h"

#include <array>
#include <cstdint>

namespace tollbar::nic {

inline constexpr const char* default_socket = "/run/tollbar/nicd.sock";
/// "tn", its version, and that of the frames: the two that talk must understand each other's as well.
inline constexpr std::uint32_t talk_magic = 0x746e3100U | (toll_magic & 0xffU);
inline constexpr std::uint32_t most_ranks = 16384;

enum class Verb : std::uint32_t { join, status, stop, address };

/// For `join` it is followed by one IPv4 address (network byte order) for each rank.
struct Request {
    std::uint32_t magic;
    Verb verb;
    std::uint64_t key;
    std::uint64_t before;  ///< the episode before the first
    std::uint32_t group;
    std::uint32_t rank;
    std::uint32_t ranks;
    std::uint32_t port;           ///< of the member's socket
    std::array<char, 128> shape;  ///< a plan's spelling, "gather" or "switch"
};

/// Followed by a line of text that says what is wrong, by the status as JSON, or by the interface's address. With a
/// join that went well come two descriptors: the group, the member's own page. The connection stays open as long as the
/// member is there.
struct Answer {
    std::uint32_t magic;
    std::int32_t error;  ///< 0 or an errno value
};

}  // namespace tollbar::nic
