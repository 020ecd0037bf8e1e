// SPDX-License-Identifier: Apache-2.0
// Nothing a member says is taken for granted: who it is comes from the kernel, its address from the interface, its
// plan from the catalogue.
#include "server.hpp"

#include "client/connection.hpp"
#include "client/local_nic.hpp"

#include "plan/lower.hpp"
#include "runtime/error.hpp"

#include <tollbar/algorithms.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace tollbar::nic {

namespace {

using runtime::Refusal;  // thrown with the errno value that the member's call is to return

/// Throws std::system_error, also when another daemon listens there.
File listen_at(const std::string& path) {
    if (connect_to(path)) throw_errno("a daemon listens at " + path + " already", EADDRINUSE);
    const auto address = unix_address(path);
    if (!address) throw_errno(path, ENAMETOOLONG);
    unlink(path.c_str());  // of one that was killed
    File listener = packet_socket();
    if (bind(listener.number(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
        chmod(path.c_str(), 0666) != 0 ||  // who asks is known, and the daemon decides
        listen(listener.number(), 64) != 0)
        throw_errno("listening at " + path);
    return listener;
}

/// Nothing when the member is gone or does not keep to the form.
std::optional<Request> receive_request(const File& connection, std::vector<std::uint32_t>& addresses) {
    Request request{.verb = Verb::status};
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

/// Never waits: a member that does not read its answer has lost it.
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
    sendmsg(connection.number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);  // who is gone is noticed when it is read
}

/// Whether `action` was refused, which the member is told.
template <class Action>
bool refused(const File& connection, Action action) {
    const Refusal refusal = runtime::refusal_of(action);
    if (refusal.error != 0) send_answer(connection, refusal.error, refusal.line, {});
    return refusal.error != 0;
}

}  // namespace

Server::Server(NicPrograms& programs, const std::string& socket, const Limits& limits)
    : programs_(programs), path_(socket), limits_(limits), listener_(listen_at(socket)) {}

Server::~Server() { unlink(path_.c_str()); }

void Server::serve() {
    while (!stopping_) {
        std::vector<pollfd> events{{.fd = listener_.number(), .events = POLLIN, .revents = 0}};
        bool anybody_joins = false;
        for (const Client& client : clients_) {
            events.push_back({.fd = client.connection.number(), .events = POLLIN, .revents = 0});
            anybody_joins |= client.joining.has_value();
        }
        const int patience_ms = anybody_joins ? 1 : departed_.empty() ? -1 : 1000;
        if (poll(events.data(), events.size(), patience_ms) < 0 && errno != EINTR) throw_errno("poll");
        auto event = events.begin() + 1;
        for (auto client = clients_.begin(); client != clients_.end(); ++event) {
            const bool stays = event->revents == 0 || hear(*client);
            if (stays && client->joining) go_on_joining(*client);
            if (!stays && client->group)
                departed_.push_back(
                    {.user = client->user, .group = *client->group, .until = Clock::now() + limits_.linger});
            client = stays ? std::next(client) : clients_.erase(client);
        }
        if (events.front().revents != 0) accept_one();
        forget_departed();
        if (!anybody_joins) programs_.tend();
    }
}

void Server::accept_one() {
    File connection(accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    ucred who{};
    socklen_t size = sizeof who;
    if (!connection || getsockopt(connection.number(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return;
    const auto own = std::ranges::count(clients_, who.uid, &Client::user);
    if (who.uid != 0 && own >= 2 * static_cast<std::ptrdiff_t>(limits_.per_user))
        return;  // even to be refused takes a descriptor
    clients_.push_back({.connection = std::move(connection),
                        .user = who.uid,
                        .process = who.pid,
                        .joining = std::nullopt,
                        .group = std::nullopt,
                        .pages = std::nullopt});
}

bool Server::hear(Client& client) {
    std::vector<std::uint32_t> addresses;
    const std::optional<Request> request = receive_request(client.connection, addresses);
    if (!request) return false;
    switch (request->verb) {
        case Verb::status: send_answer(client.connection, 0, status(), {}); return false;
        case Verb::address:
            addresses = own_addresses(programs_.interface());
            send_answer(client.connection, 0, text_of_address(addresses.empty() ? 0 : addresses.front()), {});
            return false;
        case Verb::stop:
            stopping_ = client.user == 0 || client.user == geteuid();
            send_answer(client.connection, stopping_ ? 0 : EPERM, stopping_ ? "" : "only root may stop the daemon", {});
            return false;
        case Verb::join: break;
    }
    if (client.joining || client.group) return false;
    return !refused(client.connection, [&] { begin_joining(client, *request, std::move(addresses)); });
}

void Server::begin_joining(Client& client, const Request& request, std::vector<std::uint32_t> addresses) {
    if (request.ranks < 2 || request.ranks > most_ranks || request.rank >= request.ranks || request.port == 0 ||
        request.port > 0xffff || addresses.size() != request.ranks)
        throw Refusal{EINVAL, "a group has 2 to " + std::to_string(most_ranks) + " ranks, and an address of each"};
    if (request.key == 0) throw Refusal{EINVAL, "the key is 0, which is reserved for `tollbar nic check`"};
    if (const auto own = own_addresses(programs_.interface());
        std::ranges::find(own, addresses[request.rank]) == own.end())
        throw Refusal{EADDRNOTAVAIL, text_of_address(addresses[request.rank]) + ", the address of rank " +
                                         std::to_string(request.rank) + ", is not one of " + programs_.interface()};
    if (std::set<std::uint32_t>(addresses.begin(), addresses.end()).size() != addresses.size())
        throw Refusal{EINVAL, "two ranks have the same address, and a card has one member in a group"};
    const auto same = [&](const toll_group& group) {
        return group.key == toll_net64(request.key) && group.id == toll_net32(request.group);
    };
    if (std::ranges::any_of(clients_, [&](const Client& other) { return other.group && same(*other.group); }) ||
        std::ranges::any_of(departed_, [&](const Departed& gone) { return same(gone.group); }))
        throw Refusal{EEXIST,
                      "this card already has a member of that group of that job; a job may use a group's number once"};
    const std::string_view all(request.spelling.data(), request.spelling.size());
    const std::string spelling(all.substr(0, all.find('\0')));
    Joining joining{.request = request,
                    .addresses = std::move(addresses),
                    .shape = spelling == "gather"   ? toll_star
                             : spelling == "switch" ? toll_switch
                                                    : toll_plan,
                    .plan = std::nullopt,
                    .others = {},
                    .until = Clock::now() + limits_.search};
    if (!is_counted(spelling)) joining.plan = played_by_first(make_plan(spelling, request.ranks));
    joining.others = known_ranks(joining.plan, request.rank, request.ranks);
    std::erase(joining.others, request.rank);
    const auto known = neighbours(programs_.interface());
    std::vector<std::uint32_t> sought;
    for (const Rank rank : joining.others)
        if (!known.contains(joining.addresses[rank])) sought.push_back(joining.addresses[rank]);
    look_for(programs_.interface(), sought);
    client.joining = std::move(joining);
}

void Server::go_on_joining(Client& client) {
    const auto known = neighbours(programs_.interface());
    const Joining& joining = *client.joining;
    const auto nobody = std::ranges::find_if(joining.others,
                                             [&](Rank rank) { return !known.contains(joining.addresses[rank]); });
    if (nobody != joining.others.end() && Clock::now() < joining.until) return;
    refused(client.connection, [&] {
        if (nobody != joining.others.end())
            throw Refusal{EHOSTUNREACH, "nobody on the network of " + programs_.interface() + " has " +
                                            text_of_address(joining.addresses[*nobody]) + ", the address of rank " +
                                            std::to_string(*nobody)};
        admit(client, known);
    });
    client.joining.reset();
}

void Server::admit(Client& client, const std::map<std::uint32_t, Hardware>& known) {
    const Joining& joining = *client.joining;
    const Request& request = joining.request;
    const auto directory = [&](Rank rank) {
        const std::uint32_t address = joining.addresses[rank];
        const Hardware hardware = rank == request.rank ? own_hardware(programs_.interface()) : known.at(address);
        return Endpoint{.hardware = hardware, .address = address};
    };
    make_room(client.user);
    const Membership membership{.key = request.key,
                                .group = request.group,
                                .rank = request.rank,
                                .ranks = request.ranks,
                                .before = request.before,
                                .owner = client.user,
                                .interface = programs_.index(),
                                .slot = programs_.next_slot(),
                                .port = static_cast<std::uint16_t>(request.port)};
    const toll_group group = describe(membership, joining.shape, joining.plan, directory);
    client.pages = programs_.add(group);
    client.group = group;
    send_answer(client.connection, 0, "", {&client.pages->group, &client.pages->host});
}

void Server::forget_departed() {
    while (!departed_.empty() && departed_.front().until <= Clock::now()) {
        programs_.remove(departed_.front().group);
        departed_.pop_front();
    }
}

void Server::make_room(uid_t user) {
    const auto is_users = [user](const auto& member) { return member.user == user; };
    const auto holds = [](const Client& client) { return client.group.has_value(); };
    const auto own = std::ranges::count_if(clients_, [&](const Client& c) { return holds(c) && is_users(c); });
    if (user != 0 && own >= static_cast<std::ptrdiff_t>(limits_.per_user))
        throw Refusal{EDQUOT, "user " + std::to_string(user) + " has " + std::to_string(own) +
                                  " groups on this card already (nicd --per-user)"};
    if (std::ranges::count_if(clients_, holds) >= static_cast<std::ptrdiff_t>(limits_.groups))
        throw Refusal{ENOSPC, "this card has " + std::to_string(limits_.groups) + " groups already (nicd --groups)"};
    while (static_cast<std::size_t>(std::ranges::count_if(clients_, holds)) + departed_.size() >= limits_.groups) {
        programs_.remove(departed_.front().group);
        departed_.pop_front();
    }
}

}  // namespace tollbar::nic
