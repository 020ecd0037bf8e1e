// SPDX-License-Identifier: Apache-2.0
// Questions of the door about a gate: which memory it is in, and who is missing there.
#pragma once

#include <cstdint>

namespace tollbar::detail::pthread_door {

/// Whether only this process and its children by fork(2) can have that memory: it is private, or shared and anonymous.
/// False as well where the kernel does not say.
bool only_children_share(const void* address) noexcept;

struct Incomplete {
    const void* gate;
    std::uint64_t arrived;
    std::uint64_t expected;
    bool shared;  ///< threads of other processes may have arrived
    double waited_s;
    const void* caller;
};

/// Says how many have arrived, which of this process's threads, and where the caller's code waits: the file that holds
/// it and the offset there, for addr2line(1). Throws std::bad_alloc.
void report_missing(const Incomplete& phase);

}  // namespace tollbar::detail::pthread_door
