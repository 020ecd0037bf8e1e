// SPDX-License-Identifier: Apache-2.0
// The TOLLBAR_ variables. A value nobody knows is reported once, in one line, and then ignored.
#pragma once

#include <tollbar/waiting.hpp>

#include <chrono>
#include <optional>
#include <string_view>

namespace tollbar {

/// "auto", "spin", "yield", "park".
std::optional<wait_policy> wait_policy_named(std::string_view name) noexcept;
std::string_view name_of(wait_policy policy) noexcept;

/// TOLLBAR_WAIT, read once a process; automatic when unset, empty or unknown (then with one line on stderr).
wait_policy wait_policy_from_environment() noexcept;

/// TOLLBAR_TIMEOUT, in seconds; nothing when unset or empty, or no positive number (then with one line on stderr).
std::optional<std::chrono::duration<double>> timeout_from_environment() noexcept;

}  // namespace tollbar
