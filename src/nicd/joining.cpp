// SPDX-License-Identifier: Apache-2.0
// From a request to a group on the NIC, and a user's share of the NIC until the group is really gone.
#include "server.hpp"

#include "membership/local_nic.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <utility>

namespace tollbar::detail::nic {

namespace {

using namespace std::chrono_literals;
using c_door::Refusal;  // thrown with the errno value that the member's call is to return

constexpr auto between_questions = 500ms;  // for a neighbour's hardware address
constexpr auto rarest_look = 16ms;         // for the answers
constexpr auto between_looks = 200ms;      // at the processes that have the maps of past groups open

toll_u64 name_of(const Request& request) { return toll_name_of(request.key, request.group); }

}  // namespace

void Server::begin_joining(Client& client, ParsedRequest asked) {
    check_join(asked);
    const Request& request = asked.request;
    const RankAddress& own = asked.own();
    if (std::ranges::find(network_.own_addresses(), own.address) == network_.own_addresses().end())
        throw Refusal{EADDRNOTAVAIL, text_of_address(own.address) + ", the address of rank " +
                                         std::to_string(own.rank) + ", is not one of " + network_.interface()};
    if (request.shape == toll_switch && !limits_.of_switch)
        throw Refusal{ENOTSUP, "this host's daemon has no key of a switch (nicd --switch-key)"};
    const toll_u64 name = name_of(request);
    const auto same = [&](const Client& other) {
        return (other.joining && name_of(other.joining->asked.request) == name) ||
               (other.member && other.member->past.front().name == name);
    };
    if (std::ranges::any_of(clients_, same) ||
        std::ranges::any_of(past_, [&](const Past& past) { return past.answers && past.name == name; }))
        throw Refusal{EEXIST, "this NIC has a member of that group of that job, or had one in the last " +
                                  std::to_string(limits_.linger.count()) +
                                  " s and still answers for it: use another number"};
    // Wake-ups go to that port, so it must be the asking user's.
    const RankAddress& other = asked.addresses[own.rank == asked.addresses.front().rank ? 1 : 0];
    const auto wakes = network_.receiver(own.address, static_cast<std::uint16_t>(request.port), other.address,
                                         toll_port);
    if (client.user != 0 && wakes != client.user)
        throw Refusal{EPERM, "UDP port " + std::to_string(request.port) + " of " + text_of_address(own.address) +
                                 " is not one of user " + std::to_string(client.user)};
    make_room(client.user);
    const auto now = Clock::now();
    client.joining = std::make_unique<Joining>(Joining{
        .asked = std::move(asked), .found = {}, .until = now + limits_.search, .next_look = now, .next_question = now});
    go_on_joining(client);
}

void Server::go_on_joining(Client& client) noexcept {
    bool over = true;
    try {
        refused(client.connection, [&] { over = join(client); });
    } catch (const std::exception&) {  // no memory to say so
    }
    if (over) client.joining.reset();
    if (over) client.until = Clock::now() + limits_.patience;
}

bool Server::join(Client& client) {
    Joining& joining = *client.joining;
    const auto& addresses = joining.asked.addresses;
    const auto now = Clock::now();
    while (joining.found.size() < addresses.size()) {
        const RankAddress& next = addresses[joining.found.size()];
        const auto hardware = next.rank == joining.asked.request.rank ? network_.own_hardware()
                                                                      : network_.find(next.address);
        if (!hardware) break;
        joining.found.push_back(*hardware);
    }
    const bool all = joining.found.size() == addresses.size();
    if (all)
        if (auto prepared = programs_.take()) return admit(client, std::move(*prepared)), true;
    if (now >= joining.until) {
        if (all) throw Refusal{ENOSPC, "this host has no memory for one more group on its NIC"};
        const RankAddress& nobody = addresses[joining.found.size()];
        throw Refusal{EHOSTUNREACH, "nobody on the network of " + network_.interface() + " has " +
                                        text_of_address(nobody.address) + ", the address of rank " +
                                        std::to_string(nobody.rank)};
    }
    if (!all && now >= joining.next_question) {  // a question or its answer may be lost
        for (std::size_t i = joining.found.size(); i < addresses.size(); ++i)
            if (!network_.find(addresses[i].address)) network_.look_for(addresses[i].address);
        joining.next_question = now + between_questions;
    }
    joining.next_look = now + joining.pause;
    joining.pause = std::min<std::chrono::milliseconds>(2 * joining.pause, rarest_look);
    return false;
}

void Server::admit(Client& client, NicPrograms::Prepared prepared) {
    const Joining& joining = *client.joining;
    const Request& request = joining.asked.request;
    const auto& addresses = joining.asked.addresses;
    const auto directory = [&](Rank rank) {
        const auto found = std::ranges::lower_bound(addresses, rank, {}, &RankAddress::rank);
        return Endpoint{.hardware = joining.found[static_cast<std::size_t>(found - addresses.begin())],
                        .address = found->address};
    };
    const std::uint32_t slot = prepared.slot;
    try {
        const toll_u64 name = name_of(request);
        const toll_key key = request.shape == toll_switch ? toll_switch_key(*limits_.of_switch, name) : request.key;
        const toll_identity who = toll_identity_under(key, name, toll_net32(request.group), request.digest);
        const toll_group group = describe(
            member_of(who, request.rank, request.ranks, random_number(), static_cast<toll_shape>(request.shape)),
            request.before,
            {.interface = programs_.index(), .number = slot, .port = static_cast<std::uint16_t>(request.port)},
            joining.asked.steps(), directory);
        auto member = std::make_unique<Joined>();
        member->past.push_back({.user = client.user, .name = name, .slot = slot, .until = {}, .answers = true});
        programs_.add(prepared, group);
        member->pages = std::move(prepared.pages);
        client.member = std::move(member);
    } catch (...) {
        programs_.give_back(slot);
        throw;
    }
    send_answer(client.connection, 0, "", {&client.member->pages.group, &client.member->pages.host});
}

void Server::retire(Past& past) noexcept {
    if (past.answers) programs_.remove(past.name);
    past.answers = false;
}

void Server::forget_past() {
    const auto now = Clock::now();
    if (past_.empty() || now < next_look_) return;
    next_look_ = now + between_looks;
    for (Past& past : past_)
        if (past.until <= now) retire(past);
    free_what_nobody_has();
}

void Server::free_what_nobody_has() {
    const std::vector<std::uint32_t> held = programs_.held();
    std::erase_if(past_, [&](const Past& past) {
        const bool gone = !past.answers && !std::ranges::binary_search(held, past.slot);
        if (gone) programs_.give_back(past.slot);
        return gone;
    });
}

std::size_t Server::held_by(uid_t user) const noexcept {
    const auto own = [&](const auto& one) { return one.user == user; };
    return static_cast<std::size_t>(
        std::ranges::count_if(clients_, [&](const Client& client) { return own(client) && !client.silent(); }) +
        std::ranges::count_if(past_, own));
}

std::size_t Server::held() const noexcept {
    return static_cast<std::size_t>(
        std::ranges::count_if(clients_, [](const Client& client) { return !client.silent(); }) + std::ssize(past_));
}

void Server::make_room(uid_t user) {
    const auto full = [&] { return held() >= limits_.groups || (user != 0 && held_by(user) >= limits_.per_user); };
    if (!full()) return;
    free_what_nobody_has();
    while (full()) {  // the user's own, the oldest first
        const auto oldest = std::ranges::find_if(past_,
                                                 [&](const Past& past) { return past.user == user && past.answers; });
        if (oldest == past_.end()) break;
        retire(*oldest);
        free_what_nobody_has();
    }
    if (!full()) return;
    if (const std::size_t own = held_by(user); user != 0 && own >= limits_.per_user)
        throw Refusal{EDQUOT, "user " + std::to_string(user) + " has " + std::to_string(own) +
                                  " groups on this NIC already (nicd --per-user); one that was left counts until no "
                                  "process has its maps open"};
    throw Refusal{ENOSPC, "this NIC has " + std::to_string(limits_.groups) + " groups already (nicd --groups)"};
}

}  // namespace tollbar::detail::nic
