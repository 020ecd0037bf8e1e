// SPDX-License-Identifier: Apache-2.0
// The NIC first; the reason that it cannot be had decides whether UDP will do.
#include "group.hpp"

#include "connection.hpp"
#include "local_nic.hpp"

#include "algorithms/defaults.hpp"
#include "base/environment.hpp"
#include "missing/reporting.hpp"
#include "base/random.hpp"
#include "base/say.h"
#include "wire/steps.hpp"
#include "transports/nic/descriptor.hpp"
#include "transports/nic/transport.hpp"
#include "transports/udp/answering.hpp"
#include "transports/udp/digest.hpp"
#include "transports/udp/seeking.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/detail/runner.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <netinet/in.h>

namespace tollbar::detail::nic {

namespace {

using namespace std::chrono_literals;

/// The fault of a member that its group does not take.
Fault fault_of(const UdpRefusal& refusal) { return {refusal.why == toll_other_plan ? EPROTO : ESTALE, refusal.text()}; }

class OnNic final : public GroupTransport {
public:
    OnNic(std::string plan, NicTransport transport, Episode before)
        : GroupTransport(std::move(plan)), runner_(steps.data(), steps.size(), before, std::move(transport)) {}

    bool arrive() noexcept override {
        runner_.start();
        runner_.advance();
        return !gone();
    }
    bool test() noexcept override {
        if (runner_.advance()) return true;
        runner_.transport().progress();
        return runner_.advance();
    }
    bool finish(Deadline deadline) noexcept override { return runner_.finish(deadline); }
    bool gone() const noexcept override { return runner_.transport().gone(); }
    bool wait() noexcept override {
        return wait_reporting(*this, [&] { return "group on cards (" + plan() + ")"; });
    }
    std::vector<Rank> missing() override {
        return runner_.advance() ? std::vector<Rank>() : runner_.transport().missing();
    }
    Fault fault() const override {
        const NicTransport& transport = runner_.transport();
        if (!transport.admitted() && transport.refusal() != toll_not_refused)
            return fault_of({transport.refusal(), transport.refused()});
        return {EPIPE,
                "the NIC daemon of this host is gone, and its programs with it: restart it with `tollbar nic up`, then "
                "have all members leave and join a group with another number"};
    }
    Rank rank() const noexcept { return runner_.transport().rank(); }
    Episode episode() const noexcept { return runner_.episode(); }

private:
    static constexpr std::array steps{NicStep::signal, NicStep::await};

    Runner<NicTransport> runner_;
};

std::vector<UdpAddress> hosts_of(const HostGroup& group) {
    std::vector<UdpAddress> hosts;
    for (const std::uint32_t address : group.addresses) hosts.push_back(udp_address(address, 0));
    return hosts;
}

/// The digest that all members of a group must agree on.
std::uint64_t digest_of(const std::string& plan, const HostGroup& group) {
    return tollbar::detail::digest_of(plan, hosts_of(group));
}

class OverUdp final : public GroupTransport {
public:
    OverUdp(const std::string& plan, const HostGroup& group, wait_policy wait)
        : GroupTransport(plan), runner_({.key = group.key,
                                         .group = group.id,
                                         .self = group.rank,
                                         .ranks = group.ranks,
                                         .digest = digest_of(plan, group),
                                         .drawn = random_number()},
                                        compile_steps(make_plan(plan, group.ranks), group.rank), 0, wait, {},
                                        network_of(group), WhenRefused::give_up) {}

    const char* name() const noexcept override { return "udp"; }
    bool arrive() noexcept override { return runner_.arrive(); }
    bool test() noexcept override { return runner_.test(); }
    bool finish(Deadline deadline) noexcept override { return runner_.finish(deadline); }
    bool gone() const noexcept override { return runner_.gone(); }
    Fault fault() const override { return fault_of(runner_.refusal()); }
    bool wait() noexcept override {
        return wait_reporting(runner_, [&] { return "group over UDP (" + plan() + ")"; });
    }
    std::vector<Rank> missing() override { return runner_.missing(); }

private:
    static std::unique_ptr<Datagrams> network_of(const HostGroup& group) {
        return std::make_unique<SeekingDatagrams>(group.key, group.id, group.rank, group.addresses);
    }

    AnsweringRunner runner_;
};

struct NoNic {
    int error;
    std::string why;
};

/// The member's own steps; none for a gather or a switch. Throws std::invalid_argument when a NIC cannot run them.
std::vector<toll_step> steps_on_nic(const std::string& spelling, const HostGroup& group) {
    const auto check = [&](std::size_t steps) {
        const std::string limit = nic_limit(group.rank, group.ranks, steps);
        if (!limit.empty()) throw std::invalid_argument(spelling + ": " + limit);
    };
    std::vector<toll_step> steps;
    if (!is_counted(spelling)) {
        const Plan plan = make_plan(spelling, group.ranks);
        if (plan.roles() == 0) check(count_steps(plan.program(group.rank)));  // before all far ends are looked for
        steps = compile_steps(plan, group.rank);
    }
    check(steps.size());
    return steps;
}

/// A request to join.
std::pair<Request, std::vector<RankAddress>> request_of(const std::string& plan, const HostGroup& group,
                                                        const File& wake) {
    const std::vector<toll_step> steps = steps_on_nic(plan, group);
    Request request{.verb = Verb::join,
                    .key = group.key,
                    .digest = digest_of(plan, group),
                    .group = group.id,
                    .rank = group.rank,
                    .ranks = group.ranks,
                    .port = ntohs(address_of(wake).sin_port),
                    .shape = static_cast<std::uint32_t>(plan == "gather"   ? toll_star
                                                        : plan == "switch" ? toll_switch
                                                                           : toll_plan),
                    .steps = static_cast<std::uint32_t>(steps.size())};
    std::ranges::copy(steps, request.program.begin());
    std::vector<RankAddress> addresses;
    for (const Rank rank : known_ranks(steps, group.rank, group.ranks))
        addresses.push_back({.rank = rank, .address = group.addresses[rank]});
    return {request, addresses};
}

/// Throws NoNic where the daemon cannot be had or refuses for want of something.
std::unique_ptr<GroupTransport> join_on_nic(const std::string& plan, const HostGroup& group,
                                            const GroupOptions& options, wait_policy wait) {
    const std::string path = socket_of_daemon(options.daemon.c_str(), group.addresses[group.rank]);
    File daemon = connect_to(path);
    if (!daemon)
        throw NoNic{ENOTSUP, "no daemon at " + path + " (" + why_no_daemon(errno) + "; `tollbar nic up` starts one)"};

    File wake = udp_socket(udp_address(group.addresses[group.rank], 0));  // on a port that the kernel chooses
    const auto [request, addresses] = request_of(plan, group, wake);
    auto answer = ask(daemon, request, addresses, 10s);
    if (!answer)
        throw NoNic{ENOTSUP,
                    "the daemon at " + path + " sent no answer that this library understands (is it another version?)"};
    switch (answer->error) {
        case 0: break;
        case EINVAL:
        case EEXIST:
        case EADDRNOTAVAIL:
        case EHOSTUNREACH: throw_errno(answer->text, answer->error);
        default: throw NoNic{answer->error, answer->text};
    }
    if (answer->files.size() != 2) throw NoNic{ENOTSUP, "the daemon at " + path + " sent no maps"};
    GroupFiles files{
        .group = std::move(answer->files[0]), .host = std::move(answer->files[1]), .daemon = std::move(daemon)};
    NicTransport transport(std::move(files), std::move(wake), wait);
    const Episode before = transport.episode();
    return std::make_unique<OnNic>(plan, std::move(transport), before);
}

}  // namespace

std::unique_ptr<GroupTransport> join_group(const HostGroup& group, const GroupOptions& options) {
    const bool has_key = group.key.low != 0 || group.key.high != 0;
    if (group.ranks == 0 || group.ranks > most_ranks || group.rank >= group.ranks || !has_key)
        throw std::invalid_argument("a group has 1 to " + std::to_string(most_ranks) +
                                    " ranks, its member one of them, and a key other than 0");
    // Not a gather, for some hosts may have to do without a NIC.
    std::string plan = options.plan.empty() || options.plan == "card" ? std::string(defaults::on_nics) : options.plan;
    if (plan.starts_with("card:")) plan.erase(0, 5);
    if (!is_counted(plan)) make_plan(plan, group.ranks);  // throws where there is none of that name
    if (group.ranks == 1) return std::make_unique<GroupTransport>(plan);
    refuse_mixed_loopback(hosts_of(group));
    const wait_policy wait = options.wait ? *options.wait : environment::wait();
    try {
        return join_on_nic(plan, group, options, wait);
    } catch (const NoNic& refusal) {
        if (options.only_nic || is_counted(plan)) throw_errno(refusal.why, refusal.error);
        if (environment::verbosity() > 0)
            tollbar_say("group %u runs over UDP on this host: %s", static_cast<unsigned>(group.id),
                        refusal.why.c_str());
        return std::make_unique<OverUdp>(plan, group, wait);
    }
}

}  // namespace tollbar::detail::nic
