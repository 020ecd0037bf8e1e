// SPDX-License-Identifier: Apache-2.0
// Whether a process still lives, told apart from a later one that was given the same number, and from one of that
// number in another namespace of process numbers.
#pragma once

#include <cstdint>
#include <sys/types.h>

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

}  // namespace tollbar::detail
