// SPDX-License-Identifier: Apache-2.0
// Whether a process still lives, told apart from a later one that was given the same number.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace tollbar {

/// When the process started, in clock ticks since boot; 0 when there is no such process.
std::uint64_t start_of(pid_t process) noexcept;

/// Whether the process that had this number and start (0: any) is there and has not ended.
bool is_running(pid_t process, std::uint64_t start) noexcept;

}  // namespace tollbar
