// SPDX-License-Identifier: Apache-2.0
// From C++ exceptions to errno values and the thread's last line.
#pragma once

#include "kept_errno.hpp"
#include "not_cancelled.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tollbar::detail {

/// Somebody has the rank, or left it inside an episode.
struct RankTaken : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// The name belongs to another group than asked for, or to no group at all.
struct OtherSegment : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

}  // namespace tollbar::detail

namespace tollbar::detail::c_door {

/// A failure that has its errno value already; 0 for none. To be thrown in guarded().
struct Refusal {
    int error = 0;
    std::string line;
};

inline constexpr const char* no_participant = "participant is NULL";

/// Keeps `line` as the thread's last error and returns `error`.
int fail(int error, std::string_view line) noexcept;

/// The line that the thread's last fail() kept.
const char* last_error() noexcept;

/// fail() with what the exception being handled says.
int fail_with_current_exception() noexcept;

/// Runs `action`; what it throws, or the error it returns, becomes the result. Leaves errno as it is. No cancellation
/// point.
template <class Action>
int guarded(Action&& action) noexcept {
    const KeptErrno kept;
    const NotCancelled not_cancelled;
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<Action>>) {
            std::forward<Action>(action)();
            return 0;
        } else {
            return std::forward<Action>(action)();
        }
    } catch (...) {
        return fail_with_current_exception();
    }
}

/// The failure of `action`; error 0 when it has none.
template <class Action>
Refusal refusal_of(Action&& action) {
    const int error = guarded(std::forward<Action>(action));
    return {error, error == 0 ? "" : last_error()};
}

/// As much of `text` as fits, always with a closing '\0' where there is room for anything; true if all of it did.
bool write_text(std::string_view text, char* to, std::size_t capacity) noexcept;

}  // namespace tollbar::detail::c_door
