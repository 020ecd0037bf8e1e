// SPDX-License-Identifier: Apache-2.0
// The two ends of a talk with the daemon: packets, and descriptors that travel with them.
#pragma once

#include "fitness.hpp"
#include "talk.hpp"

#include "transports/nic/files.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tollbar::nic {

/// `named` unless it is null or empty, else TOLLBAR_NICD, else the usual place.
std::string socket_of_daemon(const char* named);

/// Throws std::system_error, also when another daemon listens there.
File listen_at(const std::string& path);

/// Nothing when nobody listens there, with errno.
File connect_to(const std::string& path) noexcept;

bool send_request(const File& connection, const Request& request, const std::vector<std::uint32_t>& addresses) noexcept;

/// Nothing when the other end is gone or does not keep to the form.
std::optional<Request> receive_request(const File& connection, std::vector<std::uint32_t>& addresses);

void send_answer(const File& connection, int error, const std::string& text,
                 const std::vector<const File*>& files) noexcept;

struct Received {
    int error;
    std::string text;
    std::vector<File> files;
};

/// Waits for it; nothing when the other end is gone, does not keep to the form or takes longer than `at_most_ms`.
std::optional<Received> receive_answer(const File& connection, int at_most_ms);

}  // namespace tollbar::nic
