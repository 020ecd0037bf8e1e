// SPDX-License-Identifier: Apache-2.0
// Packets, not a stream: each request and each answer is one.
#include "socket.hpp"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace tollbar::nic {

namespace {

constexpr std::size_t most_text = 65536;
constexpr std::size_t most_files = 4;

bool fits(const std::string& path, sockaddr_un& address) {
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return false;
    path.copy(address.sun_path, path.size());
    return true;
}

File packets() { return File(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

}  // namespace

std::string socket_of_daemon(const char* named) {
    if (named == nullptr || *named == '\0') named = std::getenv("TOLLBAR_NICD");
    return named != nullptr && *named != '\0' ? named : default_socket;
}

File listen_at(const std::string& path) {
    if (connect_to(path)) fail("a daemon listens at " + path + " already", EADDRINUSE);
    sockaddr_un address{};
    if (!fits(path, address)) fail(path, ENAMETOOLONG);
    unlink(path.c_str());  // of one that was killed
    File listener = packets();
    if (bind(listener.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        chmod(path.c_str(), 0666) != 0 ||  // who asks is known, and the daemon decides
        listen(listener.number(), 64) != 0)
        fail("listening at " + path);
    return listener;
}

File connect_to(const std::string& path) noexcept {
    sockaddr_un address{};
    if (!fits(path, address)) return {};
    File connection = packets();
    if (connect(connection.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
    return connection;
}

bool send_request(const File& connection, const Request& request,
                  const std::vector<std::uint32_t>& addresses) noexcept {
    std::array<iovec, 2> parts{iovec{.iov_base = const_cast<Request*>(&request), .iov_len = sizeof request},
                               iovec{.iov_base = const_cast<std::uint32_t*>(addresses.data()),
                                     .iov_len = addresses.size() * sizeof(std::uint32_t)}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    return sendmsg(connection.number(), &message, MSG_NOSIGNAL) > 0;
}

std::optional<Request> receive_request(const File& connection, std::vector<std::uint32_t>& addresses) {
    Request request{};
    addresses.resize(most_ranks);
    std::array<iovec, 2> parts{
        iovec{.iov_base = &request, .iov_len = sizeof request},
        iovec{.iov_base = addresses.data(), .iov_len = addresses.size() * sizeof(std::uint32_t)}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t size = recvmsg(connection.number(), &message, MSG_DONTWAIT);
    if (size < static_cast<ssize_t>(sizeof request) || (message.msg_flags & MSG_TRUNC) != 0 ||
        request.magic != talk_magic)
        return std::nullopt;
    addresses.resize((static_cast<std::size_t>(size) - sizeof request) / sizeof(std::uint32_t));
    return request;
}

void send_answer(const File& connection, int error, const std::string& text,
                 const std::vector<const File*>& files) noexcept {
    Answer answer{.magic = talk_magic, .error = error};
    std::array<iovec, 2> parts{iovec{.iov_base = &answer, .iov_len = sizeof answer},
                               iovec{.iov_base = const_cast<char*>(text.data()), .iov_len = text.size()}};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(most_files * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    if (!files.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
        for (std::size_t i = 0; i < files.size(); ++i) {
            const int number = files[i]->number();
            std::memcpy(CMSG_DATA(header) + i * sizeof number, &number, sizeof number);
        }
    }
    sendmsg(connection.number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);  // who is gone is noticed when it is read
}

std::optional<Received> receive_answer(const File& connection, int at_most_ms) {
    pollfd readable{.fd = connection.number(), .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, at_most_ms) != 1) return std::nullopt;
    Answer answer{};
    std::string text(most_text, '\0');
    std::array<iovec, 2> parts{iovec{.iov_base = &answer, .iov_len = sizeof answer},
                               iovec{.iov_base = text.data(), .iov_len = text.size()}};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(most_files * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = recvmsg(connection.number(), &message, MSG_CMSG_CLOEXEC);
    Received received{.error = 0, .text = {}, .files = {}};
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_type != SCM_RIGHTS) continue;
        for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= header->cmsg_len; at += sizeof(int)) {
            int number;
            std::memcpy(&number, reinterpret_cast<const std::byte*>(header) + at, sizeof number);
            received.files.emplace_back(number);
        }
    }
    if (size < static_cast<ssize_t>(sizeof answer) || answer.magic != talk_magic) return std::nullopt;
    text.resize(static_cast<std::size_t>(size) - sizeof answer);
    received.error = answer.error;
    received.text = std::move(text);
    return received;
}

}  // namespace tollbar::nic
