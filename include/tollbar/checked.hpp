// SPDX-License-Identifier: Apache-2.0
// Whether misuse of a barrier is looked for: the build option TOLLBAR_CHECKED. Costs nothing without it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace tollbar {

#ifdef TOLLBAR_CHECKED
inline constexpr bool checked = true;
#else
inline constexpr bool checked = false;
#endif

/// Ends the program with one line on stderr unless a phase that expects `room` more arrivals may be given `times`.
inline void expect_room(std::int64_t times, std::int64_t room) noexcept {
    if (1 <= times && times <= room) return;
    std::fprintf(stderr, "tollbar: barrier: arrive(%lld) where the phase expects %lld more\n",
                 static_cast<long long>(times), static_cast<long long>(room));
    std::abort();
}

}  // namespace tollbar
