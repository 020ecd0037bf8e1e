// SPDX-License-Identifier: Apache-2.0
// Packets, not a stream: each request and each answer is one.
#include "connection.hpp"

#include "runtime/environment.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include <sys/socket.h>

namespace tollbar::nic {

std::string socket_of_daemon(const char* named) {
    return named != nullptr && *named != '\0' ? named : environment::nicd_socket();
}

std::optional<sockaddr_un> unix_address(const std::string& path) noexcept {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return std::nullopt;
    path.copy(address.sun_path, path.size());
    return address;
}

File packet_socket() noexcept { return File(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

File connect_to(const std::string& path) noexcept {
    const auto address = unix_address(path);
    if (!address) {
        errno = ENAMETOOLONG;
        return {};
    }
    File connection = packet_socket();
    if (connect(connection.number(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) return {};
    return connection;
}

std::optional<Received> ask(const File& connection, const Request& request, const std::vector<std::uint32_t>& addresses,
                            std::chrono::milliseconds at_most) {
    std::array<iovec, 2> asked{iovec{.iov_base = const_cast<Request*>(&request), .iov_len = sizeof request},
                               iovec{.iov_base = const_cast<std::uint32_t*>(addresses.data()),
                                     .iov_len = addresses.size() * sizeof(std::uint32_t)}};
    msghdr message{};
    message.msg_iov = asked.data();
    message.msg_iovlen = asked.size();
    if (sendmsg(connection.number(), &message, MSG_NOSIGNAL) <= 0) return std::nullopt;
    if (!sleep_until_readable(connection, deadline_after(at_most))) return std::nullopt;

    Answer answer;
    Received received{.error = 0, .text = std::string(most_text, '\0'), .files = {}};
    std::array<iovec, 2> parts{iovec{.iov_base = &answer, .iov_len = sizeof answer},
                               iovec{.iov_base = received.text.data(), .iov_len = received.text.size()}};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(most_files * sizeof(int))> control{};
    message.msg_iov = parts.data();
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = recvmsg(connection.number(), &message, MSG_CMSG_CLOEXEC);
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_type != SCM_RIGHTS) continue;
        for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= header->cmsg_len; at += sizeof(int)) {
            int number;
            std::memcpy(&number, reinterpret_cast<const std::byte*>(header) + at, sizeof number);
            received.files.emplace_back(number);
        }
    }
    if (size < static_cast<ssize_t>(sizeof answer) || answer.magic != talk_magic) return std::nullopt;
    received.text.resize(static_cast<std::size_t>(size) - sizeof answer);
    received.error = answer.error;
    return received;
}

}  // namespace tollbar::nic
