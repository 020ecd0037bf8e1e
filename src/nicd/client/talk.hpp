// SPDX-License-Identifier: Apache-2.0
// What a member and the daemon of its network card say to each other over a Unix socket, one packet each.
#pragma once

#include "runtime/frame.h"

#include <array>
#include <cstdint>

namespace tollbar::nic {

/// "tn", its version, and that of the frames: the two that talk must understand each other's as well.
inline constexpr std::uint32_t talk_magic = 0x746e3100U | (toll_magic & 0xffU);
inline constexpr std::uint32_t most_ranks = 16384;

enum class Verb : std::uint32_t { join, status, stop, address };

/// For `join` it is followed by one IPv4 address (network byte order) for each rank.
struct Request {
    std::uint32_t magic = talk_magic;
    Verb verb;
    std::uint64_t key = 0;
    std::uint64_t before = 0;  ///< the episode before the first
    std::uint32_t group = 0;
    std::uint32_t rank = 0;
    std::uint32_t ranks = 0;
    std::uint32_t port = 0;               ///< of the member's socket
    std::array<char, 128> spelling = {};  ///< of a plan, or "gather" or "switch"
};

/// Followed by a line of text that says what is wrong, by the status as JSON, or by the interface's address. With a
/// join that went well come two descriptors: the group, the member's own page. The connection stays open as long as the
/// member is there.
struct Answer {
    std::uint32_t magic = talk_magic;
    std::int32_t error = 0;  ///< 0 or an errno value
};

inline constexpr std::size_t most_text = 65536;
inline constexpr std::size_t most_files = 4;

}  // namespace tollbar::nic
