// SPDX-License-Identifier: Apache-2.0
// Clients' requests are not trusted, and a failure of one is its own affair: its connection ends, and the loop goes on.
#include "server.hpp"

#include "membership/local_nic.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace tollbar::detail::nic {

namespace {

using namespace std::chrono_literals;

constexpr int most_calls = 64;   // accepted in one go
constexpr auto turn = 2ms;       // until the clients that came meanwhile are looked for
constexpr int pass_rights = 83;  // SO_PASSRIGHTS, Linux 6.16

std::pair<std::uint64_t, std::uint64_t> file_of(const std::string& path) noexcept {
    struct stat found {};
    return lstat(path.c_str(), &found) == 0 ? std::pair<std::uint64_t, std::uint64_t>(found.st_dev, found.st_ino)
                                            : std::pair<std::uint64_t, std::uint64_t>();
}

/// Removes the socket of a daemon that was killed. Throws std::system_error for anything that is no socket.
void remove_left_over(const std::string& path) {
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0) return;
    if (!S_ISSOCK(found.st_mode)) throw_errno(path + " is there and is no socket", EEXIST);
    if (unlink(path.c_str()) != 0) throw_errno("the socket of an earlier daemon at " + path);
}

/// Throws std::system_error, also when another daemon listens there.
File listen_at(const std::string& path) {
    if (connect_to_anybody(path)) throw_errno("a daemon listens at " + path + " already", EADDRINUSE);
    const auto address = unix_address(path);
    if (!address) throw_errno(path, ENAMETOOLONG);
    remove_left_over(path);
    File listener = packet_socket();
    const int off = 0;
    // Descriptors that nobody receives would be closed with the dropped message, here, and closing may wait for as long
    // as their sender likes. Older kernels do not know the option.
    setsockopt(listener.number(), SOL_SOCKET, pass_rights, &off, sizeof off);
    const mode_t before = umask(0111);  // the kernel names the asking user, and the daemon decides
    const bool bound = bind(listener.number(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0;
    const int error = errno;
    umask(before);
    if (!bound) throw_errno("listening at " + path, error);
    if (listen(listener.number(), SOMAXCONN) != 0 || fcntl(listener.number(), F_SETFL, O_NONBLOCK) != 0)
        throw_errno("listening at " + path);
    return listener;
}

void watch(const File& events, const File& file, void* who) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = who;
    if (epoll_ctl(events.number(), EPOLL_CTL_ADD, file.number(), &event) != 0) throw_errno("epoll");
}

}  // namespace

Server::Server(NicPrograms& programs, const std::string& socket, const Limits& limits)
    : programs_(programs), network_(programs.interface()), path_(socket), limits_(limits), listener_(listen_at(socket)),
      file_(file_of(socket)), events_(epoll_create1(EPOLL_CLOEXEC)) {
    if (!events_) throw_errno("epoll");
    watch(events_, listener_, &listener_);
    watch(events_, network_.changes(), &network_);
    follow_network();
}

void Server::follow_network() noexcept {
    programs_.answer_at(network_.own_addresses());
    try {
        programs_.send_from(network_.own_hardware());
    } catch (const std::system_error&) {  // the interface is gone, and the programs with it
    }
}

Server::~Server() {
    if (file_of(path_) == file_) unlink(path_.c_str());
}

void Server::serve() {
    while (!stopping_) {
        try {
            look_around();
            take_turns();
            if (calls_) accept_some();
            look_after_joins();
            drop_overdue();
            forget_past();
        } catch (const std::bad_alloc&) {  // the work is still there to be done
            poll(nullptr, 0, 10);
        }
    }
}

void Server::look_around() {
    const bool joins = std::ranges::any_of(clients_, [](const Client& client) { return client.joining != nullptr; });
    const bool silent = std::ranges::any_of(clients_, &Client::silent);
    const int patience_ms = !turns_.empty() || calls_ ? 0 : joins ? 1 : silent || !past_.empty() ? 100 : -1;
    std::array<epoll_event, 1024> events;
    const int count = epoll_wait(events_.number(), events.data(), static_cast<int>(events.size()), patience_ms);
    if (count < 0 && errno != EINTR) throw_errno("epoll");
    for (int i = 0; i < count; ++i) {
        void* const who = events[static_cast<std::size_t>(i)].data.ptr;
        if (who == &listener_) {
            calls_ = true;
        } else if (who == &network_) {
            network_.refresh();
            follow_network();
        } else {
            put_in_turn(*static_cast<Client*>(who));
        }
    }
}

void Server::put_in_turn(Client& client) {
    if (client.in_turn) return;
    auto& queue = turns_[client.user];
    try {
        queue.push_back(&client);
    } catch (const std::bad_alloc&) {
        if (queue.empty()) turns_.erase(client.user);
        throw;
    }
    client.in_turn = true;
}

void Server::take_turns() {
    for (const auto until = Clock::now() + turn; !turns_.empty() && !stopping_ && Clock::now() < until;) {
        auto next = turns_.upper_bound(latest_);
        if (next == turns_.end()) next = turns_.begin();
        latest_ = next->first;
        Client& client = *next->second.front();
        next->second.pop_front();
        if (next->second.empty()) turns_.erase(next);
        client.in_turn = false;
        attend(client);
    }
}

void Server::look_after_joins() {
    const auto now = Clock::now();
    for (auto client = clients_.begin(); client != clients_.end() && Clock::now() < now + turn;) {
        const auto one = client++;
        if (!one->joining || one->joining->next_look > now) continue;
        go_on_joining(*one);
        clients_.splice(clients_.end(), clients_, one);  // the others come first the next time
    }
}

void Server::accept_some() {
    calls_ = false;
    if (Clock::now() < deaf_until_) {
        poll(nullptr, 0, 1);
        return;
    }
    for (int calls = 0; calls < most_calls; ++calls)
        if (!accept_one()) return;
    calls_ = true;
}

bool Server::accept_one() {
    File connection(accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) {
        if (errno == ECONNABORTED || errno == EINTR) return true;
        // No descriptor or no memory: clients that ask for nothing give theirs up.
        if (errno != EAGAIN && !drop_silent(std::nullopt)) deaf_until_ = Clock::now() + 10ms;
        return false;
    }
    ucred who{};
    socklen_t size = sizeof who;
    if (getsockopt(connection.number(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return true;
    const auto all = std::ranges::count_if(clients_, &Client::silent);
    const auto own = std::ranges::count_if(
        clients_, [&](const Client& client) { return client.user == who.uid && client.silent(); });
    if (own >= static_cast<std::ptrdiff_t>(limits_.silent_per_user) && !drop_silent(who.uid)) return true;
    if (all >= static_cast<std::ptrdiff_t>(limits_.silent) && !drop_silent(std::nullopt)) return true;
    clients_.push_back({.connection = std::move(connection),
                        .user = who.uid,
                        .process = who.pid,
                        .until = Clock::now() + limits_.patience,
                        .joining = nullptr,
                        .member = nullptr});
    try {
        watch(events_, clients_.back().connection, &clients_.back());
        put_in_turn(clients_.back());  // its request is there already, as a rule
    } catch (const std::exception&) {
        drop(clients_.back());
    }
    return true;
}

bool Server::drop_silent(std::optional<uid_t> of) {
    const auto idles = [&](const Client& client) {
        return client.silent() && !client.in_turn && client.user == of.value_or(client.user);
    };
    std::map<uid_t, std::uint32_t> counts;
    std::uint32_t most = 0;
    for (const Client& client : clients_)
        if (idles(client)) most = std::max(most, ++counts[client.user]);
    const auto oldest = std::ranges::find_if(
        clients_, [&](const Client& client) { return idles(client) && counts[client.user] == most; });
    if (oldest == clients_.end()) return false;
    drop(*oldest);
    return true;
}

void Server::drop_overdue() {
    for (auto client = clients_.begin(); client != clients_.end();) {
        Client& one = *client++;
        if (one.silent() && !one.in_turn && one.until <= Clock::now()) drop(one);
    }
}

void Server::attend(Client& client) noexcept {
    bool stays = false;
    try {
        stays = hear(client);
    } catch (const std::exception&) {  // such as no memory
    }
    if (!stays) drop(client);
}

bool Server::hear(Client& client) {
    std::array<std::byte, most_asked> packet;
    const ssize_t size = recv(client.connection.number(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    if (!client.silent() || size > static_cast<ssize_t>(packet.size())) return false;
    auto asked = parse(std::span(packet).first(static_cast<std::size_t>(size)));
    if (!asked) return false;
    switch (asked->request.verb) {
        case Verb::status: send_answer(client.connection, 0, status(client.user), {}); return false;
        case Verb::address: {
            const auto& own = network_.own_addresses();
            send_answer(client.connection, 0, text_of_address(own.empty() ? 0 : own.front()), {});
            return false;
        }
        case Verb::stop: {
            const bool may = client.user == 0 || client.user == geteuid();
            stopping_ |= may;
            send_answer(client.connection, may ? 0 : EPERM, may ? "" : "only root may stop the daemon", {});
            return false;
        }
        case Verb::join: break;
    }
    return !refused(client.connection, [&] { begin_joining(client, std::move(*asked)); });
}

void Server::drop(Client& client) noexcept {
    if (client.in_turn) {
        const auto queue = turns_.find(client.user);
        std::erase(queue->second, &client);
        if (queue->second.empty()) turns_.erase(queue);
    }
    // Closing alone leaves it among the events as long as a forked process has it open too.
    epoll_ctl(events_.number(), EPOLL_CTL_DEL, client.connection.number(), nullptr);
    if (client.member) {
        client.member->past.front().until = Clock::now() + limits_.linger;
        past_.splice(past_.end(), client.member->past);
    }
    const auto one = std::ranges::find(clients_, &client, [](const Client& each) { return &each; });
    clients_.erase(one);
}

}  // namespace tollbar::detail::nic
