// SPDX-License-Identifier: Apache-2.0
// include/tollbar/nic.h: one call of nic::GroupTransport each.
#include "nicd/client/group.hpp"
#include "nicd/client/talk.hpp"
#include "runtime/environment.hpp"
#include "runtime/error.hpp"
#include "runtime/say.h"

#include <tollbar/nic.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <arpa/inet.h>

using tollbar::runtime::fail;
using tollbar::runtime::guarded;

/// What the handle points to.
struct tollbar_nic {
    std::unique_ptr<tollbar::nic::GroupTransport> transport;
};

namespace {

constexpr const char* no_member = "member is NULL";

int gone(const tollbar_nic& member) {
    return guarded([&] {
        const tollbar::nic::Fault fault = member.transport->fault();
        return fail(fault.error, fault.line.c_str());
    });
}

std::uint32_t address_of(const char* host, tollbar::Rank rank) {
    in_addr number{};
    if (host == nullptr || inet_pton(AF_INET, host, &number) != 1)
        throw std::invalid_argument("the host of rank " + std::to_string(rank) +
                                    " is not an IPv4 address: " + (host == nullptr ? "NULL" : host));
    return number.s_addr;
}

tollbar::nic::Group group_of(const tollbar_nic_group& group) {
    tollbar::nic::Group made{
        .key = {group.key, group.key_high}, .id = group.id, .rank = group.rank, .ranks = group.ranks, .addresses = {}};
    if (group.ranks < 2 || group.ranks > tollbar::nic::most_ranks) return made;  // needs none, or will be refused
    for (tollbar::Rank rank = 0; rank < group.ranks; ++rank)
        made.addresses.push_back(address_of(group.hosts[rank], rank));
    return made;
}

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

tollbar::nic::GroupOptions options_of(const tollbar_nic_options& options) {
    tollbar::nic::GroupOptions made{.plan = text_or_empty(options.plan),
                                    .daemon = text_or_empty(options.daemon),
                                    .wait = std::nullopt,
                                    .only_nic = options.only_card != 0};
    if (const std::string wait = text_or_empty(options.wait); !wait.empty()) {
        made.wait = tollbar::wait_policy_named(wait);
        if (!made.wait) throw std::invalid_argument("wait is auto, spin, yield or park, not " + wait);
    }
    return made;
}

}  // namespace

int tollbar_nic_join(const tollbar_nic_group* group, const tollbar_nic_options* options, tollbar_nic** member) {
    if (group == nullptr || member == nullptr || (group->hosts == nullptr && group->ranks != 0))
        return fail(EINVAL, "group, its hosts or member is NULL");
    return guarded([&] {
        const auto how = options == nullptr ? tollbar::nic::GroupOptions() : options_of(*options);
        *member = new tollbar_nic{tollbar::nic::join_group(group_of(*group), how)};
        const auto& transport = *(*member)->transport;
        if (group->rank == 0 && std::string_view(transport.name()) == "card" && tollbar::environment::verbosity() > 0)
            tollbar_say("group %u (%u ranks): card:%s", static_cast<unsigned>(group->id),
                        static_cast<unsigned>(group->ranks), transport.plan().c_str());
        return 0;
    });
}

void tollbar_nic_leave(tollbar_nic* member) { delete member; }

int tollbar_nic_arrive(tollbar_nic* member) {
    if (member == nullptr) return fail(EINVAL, no_member);
    if (!member->transport->test()) return fail(EBUSY, "the previous episode is not over: test or wait first");
    return member->transport->arrive() ? 0 : gone(*member);
}

int tollbar_nic_test(tollbar_nic* member) {
    if (member == nullptr) return fail(EINVAL, no_member);
    if (member->transport->test()) return 0;
    return member->transport->gone() ? gone(*member) : EAGAIN;
}

int tollbar_nic_wait(tollbar_nic* member) {
    if (member == nullptr) return fail(EINVAL, no_member);
    return member->transport->wait() ? 0 : gone(*member);
}

int tollbar_nic_wait_for(tollbar_nic* member, int64_t nanoseconds) {
    if (member == nullptr) return fail(EINVAL, no_member);
    if (member->transport->finish(tollbar::deadline_after(std::chrono::nanoseconds(nanoseconds)))) return 0;
    return member->transport->gone() ? gone(*member) : ETIMEDOUT;
}

int tollbar_nic_arrive_and_wait(tollbar_nic* member) {
    const int arrived = tollbar_nic_arrive(member);
    return arrived != 0 ? arrived : tollbar_nic_wait(member);
}

int tollbar_nic_missing(tollbar_nic* member, uint32_t* ranks, size_t capacity, size_t* count) {
    if (member == nullptr || count == nullptr || (ranks == nullptr && capacity != 0))
        return fail(EINVAL, "member, ranks or count is NULL");
    return guarded([&] {
        const std::vector<tollbar::Rank> missing = member->transport->missing();
        std::copy_n(missing.begin(), std::min(capacity, missing.size()), ranks);
        *count = missing.size();
        return 0;
    });
}

const char* tollbar_nic_carrier(const tollbar_nic* member) {
    return member == nullptr ? "" : member->transport->name();
}

const char* tollbar_nic_plan(const tollbar_nic* member) {
    return member == nullptr ? "" : member->transport->plan().c_str();
}
