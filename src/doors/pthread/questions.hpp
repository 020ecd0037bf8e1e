// SPDX-License-Identifier: Apache-2.0
// Questions of the door about a gate: which memory it is in, and who is missing there.
#pragma once

#include <cstdint>
#include <string>

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
    std::string place;  ///< of the call that waits
};

/// Says how many have arrived, which of this process's threads, and where the caller's code waits. Throws
/// std::bad_alloc.
void report_missing(const Incomplete& phase);

}  // namespace tollbar::detail::pthread_door
