// SPDX-License-Identifier: Apache-2.0
// Memory that the processes of one job share on one node, in which every communicator gets its block: one file for
// the job instead of one a communicator, which grows as it is used and has no name.
#pragma once

#include "base/files.hpp"

#include <tollbar/detail/sync.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <sys/types.h>

namespace tollbar::detail {

/// The start of a block in an arena; 0 is no block.
using Offset = std::uint64_t;

/// A shared file without a name, mapped at other addresses in every process. Blocks are taken by one process and used
/// by several; the last user's give_back() frees a block.
class Arena {
public:
    /// A process that has the file open, and its descriptor: other processes of the user open that under /proc.
    struct Descriptor {
        pid_t process = 0;
        int number = -1;
    };

    /// Makes the file. Throws std::system_error when shared memory cannot be had.
    static std::shared_ptr<Arena> make(std::uint64_t id);

    /// Opens a file that another process has made and holds. Throws std::system_error.
    static std::shared_ptr<Arena> open(std::uint64_t id, Descriptor file);

    /// Gives the file a name, for processes that do not see each other. Throws std::system_error.
    void link() const;

    /// Opens a file that has a name. Throws std::system_error.
    static std::shared_ptr<Arena> open(std::uint64_t id);

    /// Removes the name, after everybody has opened it; harmless when there is none.
    static void unlink(std::uint64_t id) noexcept;

    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    std::uint64_t id() const noexcept { return id_; }
    Descriptor descriptor() const noexcept;

    /// A block of at least that many bytes for `users` processes, aligned to a line; 0 when there is no room.
    Offset take(std::size_t bytes, std::uint32_t users);

    /// One of the users needs it no more. Memory order: what the users did is before the block's next use.
    void give_back(Offset offset) noexcept;

    /// The block in the memory of this process. Throws std::system_error when it cannot be mapped.
    std::byte* at(Offset block);

    /// Posts the block of that ticket (0: there is none) for `readers` other processes. Tickets are unique in the job.
    /// False, and nothing posted, while the board is full. Memory order: release; pairs with look_up().
    bool post(std::uint64_t ticket, Offset block, std::uint32_t readers) noexcept;

    /// Whether the ticket was posted; if so, finds its block. Each reader may find it once. Memory order: acquire.
    bool look_up(std::uint64_t ticket, Offset& block) noexcept;

private:
    struct Header;
    struct Block;

    /// The file grows by pieces, each mapped when it is first used.
    static constexpr std::size_t pieces = 64;

    Arena(std::uint64_t id, File file);

    static std::shared_ptr<Arena> opened(std::uint64_t id, const char* path);
    Header& header() const noexcept;
    Block& block(Offset offset);
    bool grow(Header& header, std::size_t bytes);

    std::uint64_t id_;
    File file_;
    std::byte* header_;
    std::mutex mutex_;  ///< of this process's mappings
    std::array<std::byte*, pieces> mapped_{};
};

}  // namespace tollbar::detail
