// SPDX-License-Identifier: Apache-2.0
// Asks another host's card whether it works. No socket listens there: what answers is the card's program.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace tollbar::nic {

/// How long the answer took; nothing when three questions had none. Throws std::system_error for want of a socket,
/// std::invalid_argument when that is no IPv4 address.
std::optional<std::chrono::nanoseconds> echo(const std::string& address);

}  // namespace tollbar::nic
