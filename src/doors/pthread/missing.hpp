// SPDX-License-Identifier: Apache-2.0
// The line that says who is missing at a gate, as far as it can be known: threads without ranks have no names.
#pragma once

#include <cstdint>

namespace tollbar::detail::pthread_door {

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
