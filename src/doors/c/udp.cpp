// SPDX-License-Identifier: Apache-2.0
// tollbar_udp_*: one call of tollbar::udp_participant each.
#include <tollbar/algorithms.hpp>
#include <tollbar/udp.h>
#include <tollbar/udp.hpp>

#include "algorithms/defaults.hpp"
#include "base/c_door.hpp"
#include "missing/members.hpp"
#include "plan/wording.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

using namespace tollbar::detail::c_door;
namespace missing = tollbar::detail::missing;
using tollbar::detail::worded;

struct tollbar_udp_endpoint {
    explicit tollbar_udp_endpoint(const char* text) : place(text), address(place.address()) {}

    tollbar::udp_endpoint place;
    std::string address;
};

struct tollbar_udp {
    tollbar::udp_participant participant;
    std::vector<std::string> addresses;
    Waited waited{};
};

namespace {

constexpr const char* no_member = "member is NULL";

/// Does `action` with the member; EINVAL for NULL.
template <class Action>
int with(tollbar_udp* member, Action action) noexcept {
    if (member == nullptr) return fail(EINVAL, no_member);
    const KeptErrno kept;
    return action(member->participant);
}

tollbar::Plan plan_of(const char* spelling, uint32_t ranks) {
    return tollbar::make_plan(
        spelling == nullptr || *spelling == '\0' ? tollbar::detail::defaults::by_messages : spelling, ranks);
}

}  // namespace

int tollbar_udp_endpoint_create(const char* address, tollbar_udp_endpoint** endpoint) {
    return guarded([&] {
        if (endpoint == nullptr || address == nullptr) return fail(EINVAL, "endpoint or address is NULL");
        *endpoint = new tollbar_udp_endpoint(address);
        return 0;
    });
}

const char* tollbar_udp_endpoint_address(const tollbar_udp_endpoint* endpoint) {
    return endpoint == nullptr ? nullptr : endpoint->address.c_str();
}

int tollbar_udp_endpoint_destroy(tollbar_udp_endpoint* endpoint) {
    const KeptErrno kept;
    const tollbar::detail::NotCancelled not_cancelled;
    delete endpoint;
    return 0;
}

int tollbar_udp_join(tollbar_udp_endpoint* endpoint, const tollbar_udp_group* group, const tollbar_udp_options* options,
                     tollbar_udp** member) {
    return guarded([&] {
        if (endpoint == nullptr || group == nullptr || group->addresses == nullptr || member == nullptr)
            return fail(EINVAL, "endpoint, group, its addresses or member is NULL");
        const std::unique_ptr<tollbar_udp_endpoint> used(endpoint);
        const tollbar_udp_options wanted = given(options);
        demand_known(wanted);
        const tollbar::Plan plan = plan_of(wanted.plan, group->ranks);
        const char* const* end = group->addresses + group->ranks;
        if (std::find(group->addresses, end, nullptr) != end) return fail(EINVAL, "an address is NULL");
        std::vector<std::string> addresses(group->addresses, end);
        const auto [low, high] = halves_of(group->key);
        const tollbar::udp_options how{
            .key = low, .key_high = high, .group = group->id, .wait = policy_of(wanted.wait)};
        tollbar::udp_participant self(std::move(used->place), plan, group->rank, addresses, how);
        *member = new tollbar_udp{.participant = std::move(self), .addresses = std::move(addresses)};
        return 0;
    });
}

int tollbar_udp_leave(tollbar_udp* member) {
    const KeptErrno kept;
    const tollbar::detail::NotCancelled not_cancelled;
    delete member;
    return 0;
}

int tollbar_udp_arrive(tollbar_udp* member) {
    return with(member, [](auto& self) { return self.arrive(), 0; });
}

int tollbar_udp_test(tollbar_udp* member) {
    return with(member, [](auto& self) { return self.test() ? 0 : EAGAIN; });
}

int tollbar_udp_wait(tollbar_udp* member) {
    return with(member, [](auto& self) { return self.wait(), 0; });
}

int tollbar_udp_arrive_and_wait(tollbar_udp* member) {
    return with(member, [](auto& self) { return self.arrive_and_wait(), 0; });
}

int tollbar_udp_wait_for(tollbar_udp* member, int64_t nanoseconds) {
    return guarded([&] {
        if (member == nullptr) return fail(EINVAL, no_member);
        member->waited.begin(member->participant.episode());
        const auto result = member->participant.wait_for(std::chrono::nanoseconds(nanoseconds));
        if (result) return 0;
        return fail(ETIMEDOUT, missing::text_of(missing::unheard_members(result.missing), only_signals_missing));
    });
}

int tollbar_udp_missing(const tollbar_udp* member, tollbar_missing* missing, size_t capacity, size_t* count) {
    if (member == nullptr) return fail(EINVAL, no_member);
    return write_missing(missing, capacity, count, [&] {
        const std::int64_t waited_ns = member->waited.ns(member->participant.episode());
        std::vector<tollbar_missing> list;
        for (const tollbar::Rank rank : member->participant.missing())
            list.push_back(missing::unknown_member(rank, waited_ns, member->addresses[rank]));
        return list;
    });
}
