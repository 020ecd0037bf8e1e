// SPDX-License-Identifier: Apache-2.0
// The words of puts and their slots: 64 bits with one writer each, two slots for each channel, never reset.
#pragma once

#include <tollbar/plan.hpp>

#include <cstdint>

namespace tollbar::detail::shmem {

/// Slots of a channel. Puts may overtake each other, so that the one of the episode before may come last; a PE is never
/// more than one episode ahead, so that two are enough (docs/design/shmem.md, tests/transports/shmem/model_test.cpp).
inline constexpr unsigned parities = 2;

/// The slot of an episode among those of its channel.
constexpr unsigned parity_of(Episode episode) noexcept { return static_cast<unsigned>(episode % parities); }

/// {tag 16 | plan 16}: the barrier of which a word speaks. Never 0, so that no slot word is: 0 means that nobody has
/// written.
using Signature = std::uint32_t;

constexpr Signature signature_of(std::uint64_t tag, std::uint64_t plan) noexcept {
    const auto folded = [](std::uint64_t hash) { return (hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48) & 0xffff; };
    const auto signature = static_cast<Signature>(folded(tag) << 16 | folded(plan));
    return signature == 0 ? 1 : signature;
}

/// {signature 32 | low half of the episode 32}
constexpr std::uint64_t slot_word(Signature signature, Episode episode) noexcept {
    return std::uint64_t{signature} << 32 | static_cast<std::uint32_t>(episode);
}

/// The meaning of a word in a slot of `parity` for a PE that has entered `episode`.
enum class Reading : std::uint8_t {
    past,        ///< nobody has written, or of an episode before
    received,    ///< of this episode, or of the next one
    foreign,     ///< of another barrier
    impossible,  ///< no PE can be there yet, or in this parity
};

constexpr Reading read_slot(std::uint64_t word, unsigned parity, Signature signature, Episode episode) noexcept {
    if (word == 0) return Reading::past;
    if (word >> 32 != signature) return Reading::foreign;
    const auto ahead = static_cast<std::int32_t>(static_cast<std::uint32_t>(word) -
                                                 static_cast<std::uint32_t>(episode));
    if (ahead > 1 || word % parities != parity) return Reading::impossible;
    return ahead < 0 ? Reading::past : Reading::received;
}

}  // namespace tollbar::detail::shmem
