// SPDX-License-Identifier: Apache-2.0
// Memory that the processes of one job share on one node, in which every communicator gets its block: one file for
// the job instead of one a communicator, and no name left behind.
#pragma once

#include <tollbar/detail/sync.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <pthread.h>
#include <string>

namespace tollbar {

/// Where in an arena; 0 is nowhere.
using Offset = std::uint64_t;

/// A shared file that was unlinked as soon as everybody had it open, mapped at another address in every process.
/// Blocks are taken by one process and used by several; the last user's give_back() frees a block.
class Arena {
public:
    /// Makes the file. Throws std::system_error when shared memory cannot be had.
    static std::shared_ptr<Arena> make(std::uint64_t id);

    /// Opens what another process has made. Throws std::system_error.
    static std::shared_ptr<Arena> open(std::uint64_t id);

    /// Removes the name, after everybody has opened it; harmless when it is gone.
    static void unlink(std::uint64_t id) noexcept;

    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    std::uint64_t id() const noexcept { return id_; }

    /// A block of at least that many bytes for `users` processes, aligned to a line; 0 when there is no room.
    Offset take(std::size_t bytes, std::uint32_t users);

    /// One of the users needs it no more. Memory order: what the users did is before the block's next use.
    void give_back(Offset offset) noexcept;

    std::byte* at(Offset block) const noexcept { return memory_ + block; }

    /// Tells the other `readers` where the block of that ticket is (0: there is none). Tickets are unique in the job.
    /// False, and nothing told, while the board is full. Memory order: release; pairs with look_up().
    bool post(std::uint64_t ticket, Offset block, std::uint32_t readers) noexcept;

    /// Whether the ticket was posted; if so, where. Each reader may find it once. Memory order: acquire.
    bool look_up(std::uint64_t ticket, Offset& block) noexcept;

private:
    struct Header;
    struct Block;

    Arena(std::uint64_t id, int descriptor, std::byte* memory) noexcept
        : id_(id), descriptor_(descriptor), memory_(memory) {}

    static std::shared_ptr<Arena> map(std::uint64_t id, int descriptor);
    Header& header() const noexcept;
    Block& block(Offset offset) const noexcept;

    std::uint64_t id_;
    int descriptor_;
    std::byte* memory_;
};

}  // namespace tollbar
