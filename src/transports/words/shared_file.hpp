// SPDX-License-Identifier: Apache-2.0
// A named piece of shared memory that knows whether anybody still uses it.
#pragma once

#include "runtime/files.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace tollbar {

/// A file in /dev/shm, one per user and name. Whoever uses it holds a shared flock(2) on it; the kernel lets go
/// of that lock when a process dies however it dies, so a file nobody holds is a left-over. A child after fork(2) is
/// one of those who use it, with a lock of its own, until it ends, lets go or executes another program.
class SharedFile {
public:
    SharedFile() = default;
    SharedFile(const SharedFile&) = delete;
    SharedFile& operator=(const SharedFile&) = delete;

    /// Lets go; the last to do so removes the file.
    ~SharedFile();

    /// Opens the file of that name. When nobody uses it, it is first made anew: `bytes` long, all zero, then
    /// filled by `fill`, which writes `signature` at the beginning; nobody can observe it half done.
    ///
    /// Throws std::invalid_argument for a bad name, another user's file or one that does not begin with
    /// `signature`, std::system_error when it cannot be had.
    void open(std::string_view name, std::string_view signature, std::size_t bytes,
              const std::function<void(std::byte*)>& fill);

    /// Maps the file.
    std::byte* map(std::size_t& bytes) const;

private:
    friend class Forking;

    bool open_used(std::string_view signature);
    bool make(std::size_t bytes, const std::function<void(std::byte*)>& fill);

    std::string path_;
    File file_;
    File of_child_;     ///< while this process forks
    pid_t holder_ = 0;  ///< a child that was made without pthread_atfork's handlers leaves its parent's lock alone
};

}  // namespace tollbar
