// SPDX-License-Identifier: Apache-2.0
// include/tollbar/nic.h: from C to a member whose barrier runs on the card, or over UDP where there is none.
#include "carriers.hpp"

#include "doors/c/error.hpp"

#include <tollbar/nic.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <string>
#include <vector>

using tollbar::c_door::fail;
using tollbar::c_door::guarded;

/// What the handle points to.
struct tollbar_nic {
    std::unique_ptr<tollbar::nic::Carrier> carrier;
    std::string plan;
};

namespace {

using tollbar::nic::Outcome;

constexpr const char* no_member = "member is NULL";
constexpr const char* daemon_gone =
    "the daemon of this card is gone, and the programs on it (start it again with `tollbar nic up`, then join anew)";

int result(Outcome outcome) {
    switch (outcome) {
        case Outcome::over: return 0;
        case Outcome::late: return ETIMEDOUT;
        case Outcome::gone: break;
    }
    return fail(EPIPE, daemon_gone);
}

}  // namespace

int tollbar_nic_join(const tollbar_nic_group* group, const tollbar_nic_options* options, tollbar_nic** member) {
    if (group == nullptr || member == nullptr || (group->hosts == nullptr && group->ranks != 0))
        return fail(EINVAL, "group, its hosts or member is NULL");
    return guarded([&] {
        static constexpr tollbar_nic_options none{};
        const tollbar_nic_options& chosen = options == nullptr ? none : *options;
        auto made = std::make_unique<tollbar_nic>();
        made->plan = tollbar::nic::plan_for(*group, chosen);
        made->carrier = tollbar::nic::make_carrier(*group, chosen, made->plan);
        *member = made.release();
        return 0;
    });
}

void tollbar_nic_leave(tollbar_nic* member) { delete member; }

int tollbar_nic_arrive(tollbar_nic* member) {
    if (member == nullptr) return fail(EINVAL, no_member);
    if (!member->carrier->test()) return fail(EBUSY, "the episode before is not over: test or wait first");
    return member->carrier->arrive() ? 0 : fail(EPIPE, daemon_gone);
}

int tollbar_nic_test(tollbar_nic* member) {
    if (member == nullptr) return fail(EINVAL, no_member);
    if (member->carrier->test()) return 0;
    return member->carrier->gone() ? fail(EPIPE, daemon_gone) : EAGAIN;
}

int tollbar_nic_wait(tollbar_nic* member) {
    if (member == nullptr) return fail(EINVAL, no_member);
    return result(member->carrier->wait());
}

int tollbar_nic_wait_for(tollbar_nic* member, int64_t nanoseconds) {
    if (member == nullptr) return fail(EINVAL, no_member);
    return result(member->carrier->finish(tollbar::deadline_after(std::chrono::nanoseconds(nanoseconds))));
}

int tollbar_nic_arrive_and_wait(tollbar_nic* member) {
    const int arrived = tollbar_nic_arrive(member);
    return arrived != 0 ? arrived : tollbar_nic_wait(member);
}

int tollbar_nic_missing(tollbar_nic* member, uint32_t* ranks, size_t capacity, size_t* count) {
    if (member == nullptr || count == nullptr || (ranks == nullptr && capacity != 0))
        return fail(EINVAL, "member, ranks or count is NULL");
    return guarded([&] {
        const std::vector<tollbar::Rank> missing = member->carrier->missing();
        std::copy_n(missing.begin(), std::min(capacity, missing.size()), ranks);
        *count = missing.size();
        return 0;
    });
}

const char* tollbar_nic_carrier(const tollbar_nic* member) { return member == nullptr ? "" : member->carrier->name(); }

const char* tollbar_nic_plan(const tollbar_nic* member) { return member == nullptr ? "" : member->plan.c_str(); }
