// SPDX-License-Identifier: Apache-2.0
// A member's end of a talk with the daemon.
#pragma once

#include "talk.hpp"

#include "runtime/files.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/un.h>

namespace tollbar::nic {

/// `named` unless it is null or empty, else TOLLBAR_NICD, else the usual place.
std::string socket_of_daemon(const char* named);

/// The socket's address; nothing when the path is too long for one.
std::optional<sockaddr_un> unix_address(const std::string& path) noexcept;

/// A socket that carries packets.
File packet_socket() noexcept;

/// Nothing when nobody listens there, with errno.
File connect_to(const std::string& path) noexcept;

struct Received {
    int error;
    std::string text;
    std::vector<File> files;
};

/// Waits for the answer; nothing when the daemon is gone, is of another version or takes longer than that.
std::optional<Received> ask(const File& connection, const Request& request, const std::vector<std::uint32_t>& addresses,
                            std::chrono::milliseconds at_most);

}  // namespace tollbar::nic
