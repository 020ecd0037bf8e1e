// SPDX-License-Identifier: Apache-2.0
// Whether a process still lives, told apart from a later one that was given the same number, and from one of that
// number in another namespace of process numbers; and its memory.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tollbar::detail {

/// The fields of /proc/PID/task/TID/stat that are of use here.
struct Stat {
    char state = '?';  ///< 'R' and so on; '?' where there is no such thread
    pid_t parent = 0;
    int threads = 0;          ///< of its process
    std::uint64_t start = 0;  ///< in clock ticks since boot
    int cpu = -1;             ///< on which it ran last
};

/// That of a thread, or of a process's first thread.
Stat stat_of(pid_t process, pid_t thread = 0) noexcept;

/// When the process started, and in whose counting it has its number; 0 when there is no such process, or /proc shows
/// another counting than this process's.
std::uint64_t start_of(pid_t process) noexcept;

/// Whether the process that had this number and start (0: any) is there and has not ended. True as well where nobody
/// here can know: where its number is of another counting than ours.
bool is_running(pid_t process, std::uint64_t start) noexcept;

/// A number for the session and the control group of this process: the kernel shares CPUs out between such groups, and
/// a yield gives way inside one only. 1 to 255, so others may have the same by chance.
std::uint8_t scheduler_group() noexcept;

/// A part of a process's memory.
struct Region {
    std::uint64_t begin = 0, end = 0;
    bool readable = false, writable = false, shared = false;
    std::uint64_t offset = 0;  ///< in its file
    std::string file;          ///< "device:inode"
    std::string name;          ///< the path of that file, or what the kernel calls the part; may be empty
};

/// All that /proc/PID/maps shows (0: of this process), in ascending order; nothing where it cannot be read.
std::vector<Region> regions_of(pid_t process);

/// The region of an address; nullptr: none.
const Region* region_at(const std::vector<Region>& regions, std::uint64_t address) noexcept;

}  // namespace tollbar::detail
