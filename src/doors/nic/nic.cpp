// SPDX-License-Identifier: Apache-2.0
// include/tollbar/nic.h: one call of nic::GroupTransport each.
#include "base/c_door.hpp"
#include "base/environment.hpp"
#include "base/not_cancelled.hpp"
#include "base/say.h"
#include "membership/group.hpp"
#include "membership/talk.hpp"
#include "missing/members.hpp"

#include <tollbar/nic.h>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <arpa/inet.h>

using namespace tollbar::detail::c_door;
namespace missing = tollbar::detail::missing;

struct tollbar_nic {
    std::unique_ptr<tollbar::detail::nic::GroupTransport> transport;
    std::vector<std::string> hosts;
    tollbar::Episode episode = 0;
    Waited waited{};
};

namespace {

/// Does `action` with the member; EINVAL for NULL.
template <class Action>
int with(tollbar_nic* member, Action action) noexcept {
    if (member == nullptr) return fail(EINVAL, "member is NULL");
    const KeptErrno kept;
    const tollbar::detail::NotCancelled not_cancelled;
    return action(*member);
}

/// The fault where nothing runs the group any more; else `error`.
int gone_or(int error, const tollbar_nic& member) noexcept {
    if (!member.transport->gone()) return error;
    return guarded([&] {
        const tollbar::detail::nic::Fault fault = member.transport->fault();
        return fail(fault.error, fault.line);
    });
}

int arrive(tollbar_nic& member) noexcept {
    if (!member.transport->test()) return fail(EBUSY, "the previous episode is not over: test or wait first");
    ++member.episode;
    return member.transport->arrive() ? 0 : gone_or(EPIPE, member);
}

int wait(tollbar_nic& member) noexcept { return member.transport->wait() ? 0 : gone_or(EPIPE, member); }

std::uint32_t address_of(const char* host, tollbar::Rank rank) {
    in_addr number{};
    if (host == nullptr || inet_pton(AF_INET, host, &number) != 1)
        throw std::invalid_argument("the host of rank " + std::to_string(rank) +
                                    " is not an IPv4 address: " + (host == nullptr ? "NULL" : host));
    return number.s_addr;
}

tollbar::detail::nic::HostGroup group_of(const tollbar_nic_group& group) {
    const auto [low, high] = halves_of(group.key);
    tollbar::detail::nic::HostGroup made{
        .key = {low, high}, .id = group.id, .rank = group.rank, .ranks = group.ranks, .addresses = {}};
    if (group.ranks < 2 || group.ranks > tollbar::detail::nic::most_ranks)
        return made;  // needs none, or will be refused
    for (tollbar::Rank rank = 0; rank < group.ranks; ++rank)
        made.addresses.push_back(address_of(group.hosts[rank], rank));
    return made;
}

tollbar::detail::nic::GroupOptions options_of(const tollbar_nic_options& options) {
    demand_known(options);
    tollbar::detail::nic::GroupOptions made{.plan = text_or_empty(options.plan),
                                            .daemon = text_or_empty(options.daemon),
                                            .wait = policy_of(options.wait),
                                            .only_nic = options.only_nic != 0};
    if (made.wait == tollbar::wait_policy::automatic) made.wait.reset();
    return made;
}

}  // namespace

int tollbar_nic_join(const tollbar_nic_group* group, const tollbar_nic_options* options, tollbar_nic** member) {
    if (group == nullptr || member == nullptr || (group->hosts == nullptr && group->ranks != 0))
        return fail(EINVAL, "group, its hosts or member is NULL");
    return guarded([&] {
        const auto how = options_of(given(options));
        const tollbar::detail::nic::HostGroup wanted = group_of(*group);
        auto made = std::make_unique<tollbar_nic>();
        if (!wanted.addresses.empty()) made->hosts.assign(group->hosts, group->hosts + group->ranks);
        made->transport = tollbar::detail::nic::join_group(wanted, how);
        const auto& transport = *made->transport;
        if (group->rank == 0 && std::string_view(transport.name()) == "nic" &&
            tollbar::detail::environment::verbosity() > 0)
            tollbar_say("group %u (%u ranks): card:%s", static_cast<unsigned>(group->id),
                        static_cast<unsigned>(group->ranks), transport.plan().c_str());
        *member = made.release();
        return 0;
    });
}

int tollbar_nic_leave(tollbar_nic* member) {
    const KeptErrno kept;
    const tollbar::detail::NotCancelled not_cancelled;
    delete member;
    return 0;
}

int tollbar_nic_arrive(tollbar_nic* member) { return with(member, arrive); }

int tollbar_nic_test(tollbar_nic* member) {
    return with(member, [](tollbar_nic& self) { return self.transport->test() ? 0 : gone_or(EAGAIN, self); });
}

int tollbar_nic_wait(tollbar_nic* member) { return with(member, wait); }

int tollbar_nic_wait_for(tollbar_nic* member, int64_t nanoseconds) {
    return with(member, [&](tollbar_nic& self) {
        self.waited.begin(self.episode);
        if (self.transport->finish(tollbar::detail::deadline_after(std::chrono::nanoseconds(nanoseconds)))) return 0;
        const int error = gone_or(ETIMEDOUT, self);
        return error == ETIMEDOUT ? fail(error, "time ran out before the episode was over") : error;
    });
}

int tollbar_nic_arrive_and_wait(tollbar_nic* member) {
    return with(member, [](tollbar_nic& self) {
        const int error = arrive(self);
        return error != 0 ? error : wait(self);
    });
}

int tollbar_nic_missing(tollbar_nic* member, tollbar_missing* missing, size_t capacity, size_t* count) {
    return with(member, [&](tollbar_nic& self) {
        return write_missing(missing, capacity, count, [&] {
            std::vector<tollbar_missing> list;
            for (const tollbar::Rank rank : self.transport->missing())
                list.push_back(missing::unknown_member(rank, self.waited.ns(self.episode), self.hosts[rank]));
            return list;
        });
    });
}

const char* tollbar_nic_carrier(const tollbar_nic* member) {
    return member == nullptr ? "" : member->transport->name();
}

const char* tollbar_nic_plan(const tollbar_nic* member) {
    return member == nullptr ? "" : member->transport->plan().c_str();
}
