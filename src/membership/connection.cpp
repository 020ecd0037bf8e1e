// SPDX-License-Identifier: Apache-2.0
// Packets, not a stream: each request and each answer is one.
#include "connection.hpp"

#include "base/environment.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tollbar::detail::nic {

namespace {

/// Whether the folder of the socket is that user's, and only root could have made it so.
bool has_folder_from_root(uid_t user, std::string path) noexcept {
    struct stat found {};
    const auto cut = [&] { path.resize(std::max<std::size_t>(path.rfind('/'), 1)); };
    if (!path.starts_with('/') || path.find("/..") != std::string::npos) return false;
    cut();
    if (lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != user ||
        (found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return false;
    while (path != "/") {
        cut();
        if (lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != 0 ||
            (found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
            return false;
    }
    return true;
}

/// The socket of the daemon for an interface that has that address, or any if it is 0; "" when there is none.
std::string socket_of_interface(std::uint32_t address) {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return "";
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
        if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
        const auto found = reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr;
        if (address != 0 && address != found) continue;
        std::string path = std::string("/run/tollbar/") + one->ifa_name + "/nicd.sock";
        if (access(path.c_str(), F_OK) == 0) return path;
    }
    return "";
}

}  // namespace

std::string socket_of_daemon(const char* named, std::uint32_t address) {
    if (named != nullptr && *named != '\0') return named;
    std::string usual = environment::nicd_socket();
    if (usual != environment::default_nicd_socket) return usual;
    const bool there = access(usual.c_str(), F_OK) == 0;
    if (address == 0 && there) return usual;
    const std::string own = socket_of_interface(address);
    return own.empty() ? usual : own;
}

std::optional<sockaddr_un> unix_address(const std::string& path) noexcept {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return std::nullopt;
    path.copy(address.sun_path, path.size());
    return address;
}

File packet_socket() noexcept { return File(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

File connect_to_anybody(const std::string& path) noexcept {
    const auto address = unix_address(path);
    if (!address) {
        errno = ENAMETOOLONG;
        return {};
    }
    File connection = packet_socket();
    if (connect(connection.number(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) return {};
    return connection;
}

File connect_to(const std::string& path) noexcept {
    File connection = connect_to_anybody(path);
    ucred daemon{};
    socklen_t size = sizeof daemon;
    if (!connection || getsockopt(connection.number(), SOL_SOCKET, SO_PEERCRED, &daemon, &size) != 0) return {};
    if (daemon.uid == 0 || daemon.uid == geteuid() || has_folder_from_root(daemon.uid, path)) return connection;
    errno = EPERM;
    return {};
}

std::string why_no_daemon(int error) {
    if (error == EPERM) return "the process there is of another user, who is not trusted with the group's key";
    return std::strerror(error);
}

std::optional<Received> ask(const File& connection, const Request& request, const std::vector<RankAddress>& addresses,
                            std::chrono::milliseconds at_most) {
    std::array<iovec, 2> asked{iovec{.iov_base = const_cast<Request*>(&request), .iov_len = sizeof request},
                               iovec{.iov_base = const_cast<RankAddress*>(addresses.data()),
                                     .iov_len = addresses.size() * sizeof(RankAddress)}};
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

void send_answer(const File& connection, int error, const std::string& text,
                 const std::vector<const File*>& files) noexcept {
    Answer answer{.error = error};
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
    sendmsg(connection.number(), &message,
            MSG_NOSIGNAL | MSG_DONTWAIT);  // a client that is gone is noticed at the next read
}

}  // namespace tollbar::detail::nic
