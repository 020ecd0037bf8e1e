// SPDX-License-Identifier: Apache-2.0
// A hash that is the same in every program: std::hash promises that only within one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tollbar::detail {

inline constexpr std::uint64_t fnv_start = 0xcbf2'9ce4'8422'2325;

/// Fowler, Noll, Vo: FNV-1a. Finds damage, not malice.
constexpr std::uint64_t fnv1a(std::span<const std::byte> bytes, std::uint64_t hash = fnv_start) noexcept {
    for (const std::byte byte : bytes) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100'0000'01b3;
    return hash;
}

constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = fnv_start) noexcept {
    for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100'0000'01b3;
    return hash;
}

}  // namespace tollbar::detail
