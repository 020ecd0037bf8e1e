// SPDX-License-Identifier: Apache-2.0
// How a PE tells another one, and how that one sees it.
#pragma once

#include "block.hpp"

#include <memory>
#include <optional>

namespace tollbar::shmem {

/// One way to tell, at work for one PE in one barrier. One thread at a time; nothing blocks for another PE's arrival.
///
///     signaller->begin(episode);
///     signaller->tell(pe, slot);                 // there
///     while (!signaller->told(slot)) progress(); // here
///     signaller->clean_up();
class Signaller {
public:
    virtual ~Signaller() = default;

    virtual void begin(Episode episode) noexcept = 0;

    /// Tells `pe` by that slot of its block. What this PE completed before is visible there once that one is told.
    virtual void tell(int pe, std::uint32_t slot) noexcept = 0;

    /// Whether that slot of this PE's block was told in this episode.
    /// Memory order: acquire when it was; pairs with what the other PE completed, or with its store.
    virtual bool told(std::uint32_t slot) const noexcept = 0;

    /// Makes what was told in this episode ready for later ones.
    virtual void clean_up() noexcept {}

    /// What the slots of this PE say that they cannot; nothing when all is well, or where that cannot be seen.
    struct Fault {
        static constexpr std::uint32_t no_slot = ~std::uint32_t{0};  ///< the counter

        Reading reading;
        std::uint64_t word;
        std::uint32_t slot;
    };
    virtual std::optional<Fault> fault() const noexcept { return std::nullopt; }
};

/// A way to tell: the number that options give it, which PEs compare, and who does it in a barrier over `block`.
struct SignalKind {
    int number;
    std::unique_ptr<Signaller> (*make)(Block block, Signature signature);
};

/// Puts of 64 bits into slots that are never reset (slots.hpp).
extern const SignalKind by_puts;

/// Stores into the slots of those PEs whose memory shmem_ptr gives, puts to the others.
extern const SignalKind by_stores;

}  // namespace tollbar::shmem
