// SPDX-License-Identifier: Apache-2.0
// Whether misuse of a barrier is looked for: in each file that is compiled with TOLLBAR_CHECKED, and in no other. Files
// of a program may differ: which of a function's copies the linker keeps must not matter, so what is called across
// files is inlined into its caller or has this answer among its template arguments.
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)
namespace tollbar::detail {

#ifdef TOLLBAR_CHECKED
constexpr bool checked = true;
#else
constexpr bool checked = false;
#endif

/// Ends the program with a line on stderr: arrive(times) where the phase expects `room` more.
[[noreturn]] void refuse_arrivals(std::int64_t times, std::int64_t room) noexcept;

/// Ends the program with a line on stderr: a barrier cannot expect so many arrivals a phase, but 0 to `most`.
[[noreturn]] void refuse_expected(std::int64_t expected, std::int64_t most) noexcept;

/// Ends the program unless a phase that expects `room` more arrivals may be given `times`.
inline void expect_room(std::int64_t times, std::int64_t room) noexcept {
    if (times < 1 || times > room) refuse_arrivals(times, room);
}

}  // namespace tollbar::detail
#pragma GCC visibility pop
