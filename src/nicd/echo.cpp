// SPDX-License-Identifier: Apache-2.0
// The question carries a number that the answer repeats, so that no other frame passes for it.
#include "echo.hpp"

#include "runtime/files.hpp"
#include "runtime/frame.h"

#include <random>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace tollbar::nic {

namespace {

constexpr int tries = 3;
constexpr int patience_ms = 300;

}  // namespace

std::optional<std::chrono::nanoseconds> echo(const std::string& address) {
    sockaddr_in card{};
    card.sin_family = AF_INET;
    card.sin_port = htons(toll_port);
    if (inet_pton(AF_INET, address.c_str(), &card.sin_addr) != 1)
        throw std::invalid_argument(address + " is not an IPv4 address");
    const File asking(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!asking || connect(asking.number(), reinterpret_cast<const sockaddr*>(&card), sizeof card) != 0)
        throw_errno("a socket towards " + address);
    constexpr toll_identity nobody{};  // no group, no key
    std::random_device random;
    for (int attempt = 0; attempt < tries; ++attempt) {
        const toll_u64 number = static_cast<toll_u64>(random()) << 32 | random();
        const toll_frame question = toll_unsealed(&nobody, 0, toll_ask, 0, 0, 0, number);
        const auto began = std::chrono::steady_clock::now();
        send(asking.number(), &question, sizeof question, 0);
        for (pollfd readable{.fd = asking.number(), .events = POLLIN, .revents = 0};
             poll(&readable, 1, patience_ms) == 1;) {
            toll_frame answer{};
            const ssize_t size = recv(asking.number(), &answer, sizeof answer, MSG_DONTWAIT);
            if (size < 0) break;  // the host says that nobody listens there: no card took the question
            if (size == sizeof answer && answer.episode == question.episode && answer.name == 0 &&
                answer.kind == toll_here)
                return std::chrono::steady_clock::now() - began;
        }
    }
    return std::nullopt;
}

}  // namespace tollbar::nic
