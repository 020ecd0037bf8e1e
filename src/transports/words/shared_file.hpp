// SPDX-License-Identifier: Apache-2.0
// A named piece of shared memory that knows whether any process still uses it.
#pragma once

#include "base/files.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace tollbar::detail {

inline constexpr const char* shared_folder = "/dev/shm/";

/// The name with which the file at that path was opened as a SharedFile, by any user; "" where it is no such file.
std::string name_of_shared_file(std::string_view path);

/// A file in /dev/shm, one per user and name. Each process that uses it holds a shared flock(2) on it; the kernel lets
/// go of that lock however the process dies, so a file without a lock is a left-over. A child after fork(2) uses the
/// file too, with a lock of its own, until it ends, lets go or executes another program.
class SharedFile {
public:
    SharedFile() = default;
    SharedFile(const SharedFile&) = delete;
    SharedFile& operator=(const SharedFile&) = delete;

    /// Lets go; the last to do so removes the file.
    ~SharedFile();

    /// Opens the file of that name. When no process uses it, it is first made anew: `bytes` long, all zero, then
    /// filled by `fill`, which writes `signature` at the beginning; no other process can observe it half done.
    ///
    /// Throws std::invalid_argument for a bad name, another user's file or one that does not begin with
    /// `signature`, std::system_error when it cannot be had.
    void open(std::string_view name, std::string_view signature, std::size_t bytes,
              const std::function<void(std::byte*)>& fill);

    /// Maps the file.
    Mapping map() const;

private:
    friend class Forking;

    bool open_used(std::string_view signature);
    bool make(std::size_t bytes, const std::function<void(std::byte*)>& fill);

    std::string path_;
    File file_;
    File of_child_;     ///< while this process forks
    pid_t holder_ = 0;  ///< a child that was made without pthread_atfork's handlers leaves its parent's lock alone
};

}  // namespace tollbar::detail
