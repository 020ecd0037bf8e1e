// SPDX-License-Identifier: Apache-2.0
// What the kernel says of a process that is not in a call of the MPI.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace tollbar::detail::watch {

/// "running", "asleep in nanosleep", "asleep" where its calls may not be looked at, "stopped" or "dead"; of its first
/// thread.
std::string doing(pid_t process, std::uint64_t start);

}  // namespace tollbar::detail::watch
