// SPDX-License-Identifier: Apache-2.0
// Both ends of a talk between a member and the daemon.
#pragma once

#include "talk.hpp"

#include "base/files.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/un.h>

namespace tollbar::detail::nic {

/// `named` unless it is null or empty, else TOLLBAR_NICD. If neither is set, in /run/tollbar: NAME/nicd.sock of the
/// interface that has `address`, if it is there; else nicd.sock; else, without an address, the first interface's.
std::string socket_of_daemon(const char* named, std::uint32_t address = 0);

/// The socket's address; nothing when the path is too long for one.
std::optional<sockaddr_un> unix_address(const std::string& path) noexcept;

/// A socket that carries packets.
File packet_socket() noexcept;

/// Nothing when nobody listens there, with errno.
File connect_to_anybody(const std::string& path) noexcept;

/// To a daemon that may learn secrets: root's, this process's user's, or that of a user whom root gave the socket's
/// folder, where no other could have put a socket. Nothing with errno; EPERM when somebody else listens there.
File connect_to(const std::string& path) noexcept;

/// The error that connect_to() left in errno, in words.
std::string why_no_daemon(int error);

struct Received {
    int error;
    std::string text;
    std::vector<File> files;
};

/// Waits for the answer; nothing when the daemon is gone, is of another version or takes longer than that.
std::optional<Received> ask(const File& connection, const Request& request, const std::vector<RankAddress>& addresses,
                            std::chrono::milliseconds at_most);

/// The daemon's answer. Never waits: a member that does not read its answer has lost it.
void send_answer(const File& connection, int error, const std::string& text,
                 const std::vector<const File*>& files) noexcept;

}  // namespace tollbar::detail::nic
