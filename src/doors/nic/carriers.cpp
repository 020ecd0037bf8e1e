// SPDX-License-Identifier: Apache-2.0
// The card first; what keeps it from being had decides whether UDP will do.
#include "carriers.hpp"

#include "fitness.hpp"
#include "socket.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/environment.hpp>
#include <tollbar/udp.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace tollbar::nic {

namespace {

constexpr int join_patience_ms = 10000;

class CardCarrier final : public Carrier {
public:
    CardCarrier(Share share, File socket, wait_policy wait)
        : member_(std::move(share), std::move(socket), wait, Pace{}) {}

    const char* name() const noexcept override { return "card"; }
    bool arrive() noexcept override { return member_.arrive(); }
    bool test() noexcept override { return member_.test(); }
    bool gone() const noexcept override { return member_.gone(); }
    Outcome finish(Deadline deadline) noexcept override { return member_.finish(deadline); }
    std::vector<Rank> missing() override { return member_.missing(); }

    Outcome wait() override {
        const auto report_every = timeout_from_environment();
        if (!report_every) return member_.finish({std::chrono::steady_clock::time_point::max()});
        for (;;) {
            const Outcome outcome = member_.finish(deadline_after(*report_every));
            if (outcome != Outcome::late) return outcome;
            report(member_.missing());
        }
    }

private:
    void report(const std::vector<Rank>& missing) const {
        if (missing.empty()) return;
        std::ostringstream line;
        line << "tollbar: rank " << member_.rank() << " waits in episode " << member_.episode() << " for rank";
        for (const Rank rank : missing) line << ' ' << rank;
        std::cerr << line.str() + '\n';
    }

    Member member_;
};

class UdpCarrier final : public Carrier {
public:
    UdpCarrier(const tollbar_nic_group& group, const std::string& plan, wait_policy wait)
        : participant_(udp_place(address_of(group, group.rank)), make_plan(plan, group.ranks), group.rank,
                       addresses(group), {.key = group.key, .group = group.id, .wait = wait}) {}

    const char* name() const noexcept override { return "udp"; }
    bool arrive() noexcept override {
        participant_.arrive();
        return true;
    }
    bool test() noexcept override { return participant_.episode() == 0 || participant_.test(); }
    Outcome finish(Deadline deadline) noexcept override {
        return participant_.wait_for(deadline.at - std::chrono::steady_clock::now()) ? Outcome::over : Outcome::late;
    }
    Outcome wait() override {
        participant_.wait();
        return Outcome::over;
    }
    std::vector<Rank> missing() override { return participant_.missing(); }

private:
    static std::string address_of(const tollbar_nic_group& group, Rank rank) {
        return std::string(group.hosts[rank]) + ":" + std::to_string(toll_port);
    }
    static std::vector<std::string> addresses(const tollbar_nic_group& group) {
        std::vector<std::string> all;
        for (Rank rank = 0; rank < group.ranks; ++rank) all.push_back(address_of(group, rank));
        return all;
    }

    udp_participant participant_;
};

/// A group of one.
class Alone final : public Carrier {
public:
    const char* name() const noexcept override { return "card"; }
    bool arrive() noexcept override { return true; }
    bool test() noexcept override { return true; }
    Outcome finish(Deadline) noexcept override { return Outcome::over; }
    Outcome wait() override { return Outcome::over; }
    std::vector<Rank> missing() override { return {}; }
};

struct NoCard {
    int error;
    std::string why;
};

std::uint32_t number_of(const char* host, Rank rank) {
    in_addr number{};
    if (host == nullptr || inet_pton(AF_INET, host, &number) != 1)
        throw std::invalid_argument("the host of rank " + std::to_string(rank) +
                                    " is no IPv4 address: " + (host == nullptr ? "NULL" : host));
    return number.s_addr;
}

wait_policy wait_of(const tollbar_nic_options& options) {
    if (options.wait == nullptr || *options.wait == '\0') return wait_policy_from_environment();
    const auto named = wait_policy_named(options.wait);
    if (!named) throw std::invalid_argument(std::string("wait is auto, spin, yield or park, not ") + options.wait);
    return *named;
}

/// A UDP socket for wake-ups, on a port that the kernel chooses.
File wake_socket(std::uint32_t address, std::uint16_t& port) {
    File made(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = address;
    socklen_t size = sizeof place;
    if (!made || bind(made.number(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 ||
        getsockname(made.number(), reinterpret_cast<sockaddr*>(&place), &size) != 0)
        fail(std::string("the host of this rank, ") + text_of_address(address));
    port = ntohs(place.sin_port);
    return made;
}

/// Throws NoCard where the daemon cannot be had or refuses for want of something.
std::unique_ptr<Carrier> card_carrier(const tollbar_nic_group& group, const tollbar_nic_options& options,
                                      const std::string& plan) {
    std::vector<std::uint32_t> addresses;
    for (Rank rank = 0; rank < group.ranks; ++rank) addresses.push_back(number_of(group.hosts[rank], rank));
    const std::string path = socket_of_daemon(options.daemon);
    File daemon = connect_to(path);
    if (!daemon)
        throw NoCard{ENOTSUP, "no daemon at " + path + " (" + std::strerror(errno) + "; `tollbar nic up` starts one)"};

    std::uint16_t port = 0;
    File wake = wake_socket(addresses[group.rank], port);
    Request request{.magic = talk_magic,
                    .verb = Verb::join,
                    .key = group.key,
                    .before = 0,
                    .group = group.id,
                    .rank = group.rank,
                    .ranks = group.ranks,
                    .port = port,
                    .shape = {}};
    if (plan.size() >= request.shape.size()) throw std::invalid_argument("the plan's spelling is too long: " + plan);
    plan.copy(request.shape.data(), plan.size());
    if (!send_request(daemon, request, addresses)) throw NoCard{ENOTSUP, "the daemon at " + path + " does not listen"};
    std::optional<Received> answer = receive_answer(daemon, join_patience_ms);
    if (!answer)
        throw NoCard{ENOTSUP, "the daemon at " + path + " gives no answer that this library knows (another version?)"};
    switch (answer->error) {
        case 0: break;
        case EINVAL:
        case EEXIST:
        case EADDRNOTAVAIL:
        case EHOSTUNREACH: fail(answer->text, answer->error);
        default: throw NoCard{answer->error, answer->text};
    }
    if (answer->files.size() != 2) throw NoCard{ENOTSUP, "the daemon at " + path + " sent no maps"};
    return std::make_unique<CardCarrier>(
        Share{.group = std::move(answer->files[0]), .host = std::move(answer->files[1]), .daemon = std::move(daemon)},
        std::move(wake), wait_of(options));
}

}  // namespace

std::string plan_for(const tollbar_nic_group& group, const tollbar_nic_options& options) {
    if (group.ranks == 0 || group.ranks > most_ranks || group.rank >= group.ranks || group.key == 0)
        throw std::invalid_argument("a group has 1 to " + std::to_string(most_ranks) +
                                    " ranks, its member one of them, and a key other than 0");
    std::string plan = options.plan == nullptr ? "" : options.plan;
    if (plan.empty()) plan = "pairwise";                  // not a gather, for some hosts may have to do without a card
    if (!is_counted(plan)) make_plan(plan, group.ranks);  // throws where there is none of that name
    return plan;
}

std::unique_ptr<Carrier> make_carrier(const tollbar_nic_group& group, const tollbar_nic_options& options,
                                      const std::string& plan) {
    if (group.ranks == 1) return std::make_unique<Alone>();
    try {
        return card_carrier(group, options, plan);
    } catch (const NoCard& refusal) {
        if (options.only_card != 0 || is_counted(plan)) fail(refusal.why, refusal.error);
        if (std::getenv("TOLLBAR_VERBOSE") != nullptr)
            std::cerr << "tollbar: group " + std::to_string(group.id) + " runs over UDP on this host: " + refusal.why +
                             '\n';
        return std::make_unique<UdpCarrier>(group, plan, wait_of(options));
    }
}

}  // namespace tollbar::nic
