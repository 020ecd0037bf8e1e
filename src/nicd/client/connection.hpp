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

/// `named` unless it is null or empty, else TOLLBAR_NICD. Where neither is set, in /run/tollbar: NAME/nicd.sock of the
/// interface that has `address`, if it is there; else nicd.sock; else, without an address, the first interface's.
std::string socket_of_daemon(const char* named, std::uint32_t address = 0);

/// The socket's address; nothing when the path is too long for one.
std::optional<sockaddr_un> unix_address(const std::string& path) noexcept;

/// A socket that carries packets.
File packet_socket() noexcept;

/// Nothing when nobody listens there, with errno.
File connect_to_anybody(const std::string& path) noexcept;

/// To a daemon that may be told secrets: root's, this process's user's, or that of a user whom root gave the socket's
/// folder, where no other could have put a socket. Nothing with errno; EPERM when somebody else listens there.
File connect_to(const std::string& path) noexcept;

/// What connect_to() left in errno, in words.
std::string why_no_daemon(int error);

struct Received {
    int error;
    std::string text;
    std::vector<File> files;
};

/// Waits for the answer; nothing when the daemon is gone, is of another version or takes longer than that.
std::optional<Received> ask(const File& connection, const Request& request, const std::vector<Place>& places,
                            std::chrono::milliseconds at_most);

}  // namespace tollbar::nic
