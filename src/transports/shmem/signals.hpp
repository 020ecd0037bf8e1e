// SPDX-License-Identifier: Apache-2.0
// How a PE tells another one: by puts, by stores, or in a way that an experiment brings.
#pragma once

#include "block.hpp"

#include <memory>

namespace tollbar::shmem {

/// Another way to tell than by words in slots (slots.hpp), at work for one PE in one barrier. One thread at a time;
/// nothing blocks for another PE's arrival.
///
///     signaller->tell(pe, slot);                 // there
///     while (!signaller->told(slot)) progress(); // here
///     signaller->clean_up();
class Signaller {
public:
    virtual ~Signaller() = default;

    /// Tells `pe` by that slot of its block. What this PE completed before is visible there once that one is told.
    virtual void tell(int pe, std::uint32_t slot) noexcept = 0;

    /// Whether that slot of this PE's block was told in this episode.
    /// Memory order: acquire when it was; pairs with what the other PE completed.
    virtual bool told(std::uint32_t slot) const noexcept = 0;

    /// Makes what was told in this episode ready for later ones.
    virtual void clean_up() noexcept = 0;
};

/// A way to tell: the number that options give it, which PEs compare, and who does it in a barrier over `block`; null
/// where the transport itself does.
struct SignalKind {
    int number;
    std::unique_ptr<Signaller> (*make)(Block block) = nullptr;
};

/// Puts of 64 bits into slots that are never reset (slots.hpp).
inline constexpr SignalKind by_puts{.number = 8};

/// Stores into the slots of those PEs whose memory shmem_ptr gives, puts to the others.
inline constexpr SignalKind by_stores{.number = 7};

}  // namespace tollbar::shmem
