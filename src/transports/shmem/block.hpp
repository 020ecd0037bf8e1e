// SPDX-License-Identifier: Apache-2.0
// The symmetric memory of one barrier: its identity, the progress of this PE, a counter, and the slots of both
// parities.
#pragma once

#include "slots.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tollbar::detail::shmem {

/// A view of such memory: of this PE's, and by address of every other's.
class Block {
public:
    Block() = default;
    Block(void* memory, std::uint32_t slots) noexcept : words_(static_cast<std::uint64_t*>(memory)), slots_(slots) {}

    static constexpr std::size_t bytes_for(std::uint32_t slots) noexcept {
        return (head + parities * width(slots)) * sizeof(std::uint64_t);
    }

    std::uint64_t* words() const noexcept { return words_; }
    std::uint32_t slots() const noexcept { return slots_; }
    std::uint64_t* counter() const noexcept { return words_ + line; }
    std::uint64_t* arrivals() const noexcept { return words_ + 2 * line; }
    std::uint64_t* slot(unsigned parity, std::uint32_t index) const noexcept {
        return words_ + head + parity * width(slots_) + index;
    }

    /// The process whose block it is; 0 for none.
    struct Owner {
        std::uint64_t process;
        std::uint64_t start;
    };

    /// For others' reports, which order nothing. Not in the first line, which every PE that signals this one reads.
    void enter(Episode episode) const noexcept { at(words_, line + 1).store(episode, std::memory_order_relaxed); }

    /// Writes the owner of this block. `identity` 0: nobody.
    void name(std::uint64_t identity, Episode episode, Owner owner) const noexcept {
        enter(episode);
        at(words_, 1).store(owner.process, std::memory_order_relaxed);
        at(words_, 2).store(owner.start, std::memory_order_relaxed);
        at(words_, 0).store(identity, std::memory_order_release);
    }

    /// How many PEs may be asleep at a slot of this block, or at its counter.
    std::uint64_t* asleep() const noexcept { return words_ + 3; }

    // The values that name() and enter() wrote, in this PE's memory or in a peer's as shmem_ptr gives it.
    static std::uint64_t identity(std::uint64_t* words) noexcept {
        return at(words, 0).load(std::memory_order_acquire);
    }
    static Episode entered(std::uint64_t* words) noexcept {
        return at(words, line + 1).load(std::memory_order_relaxed);
    }
    static Owner owner(std::uint64_t* words) noexcept {
        return {at(words, 1).load(std::memory_order_relaxed), at(words, 2).load(std::memory_order_relaxed)};
    }

private:
    static constexpr std::size_t line = 8;         ///< words of a cache line
    static constexpr std::size_t head = 3 * line;  ///< the identity, the counter, the arrivals

    static std::atomic_ref<std::uint64_t> at(std::uint64_t* words, std::size_t index) noexcept {
        return std::atomic_ref(words[index]);
    }
    static constexpr std::size_t width(std::uint32_t slots) noexcept { return (slots + line - 1) / line * line; }

    std::uint64_t* words_ = nullptr;
    std::uint32_t slots_ = 0;
};

}  // namespace tollbar::detail::shmem
