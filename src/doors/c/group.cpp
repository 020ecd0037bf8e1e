// SPDX-License-Identifier: Apache-2.0
// tollbar_group_* and tollbar_participant_*: one call of tollbar::group or tollbar::participant each.
#include <tollbar/participant.hpp>
#include <tollbar/tollbar.h>

#include "base/c_door.hpp"
#include "missing/members.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>

using namespace tollbar::detail::c_door;
namespace missing = tollbar::detail::missing;

struct tollbar_group {
    explicit tollbar_group(tollbar::group made) : group(std::move(made)), plan(group.plan()) {}

    tollbar::group group;
    std::string plan;
};

struct tollbar_participant {
    tollbar::participant participant;
    Waited waited{};
};

namespace {

constexpr const char* no_group = "group is NULL";

static_assert(TOLLBAR_NEVER_JOINED == static_cast<int>(tollbar::absent::state::never_joined));
static_assert(TOLLBAR_LEFT == static_cast<int>(tollbar::absent::state::left));
static_assert(TOLLBAR_RUNNING == static_cast<int>(tollbar::absent::state::running));
static_assert(TOLLBAR_DEAD == static_cast<int>(tollbar::absent::state::dead));

tollbar::group_options to_cxx(const tollbar_group_options* options) {
    const tollbar_group_options wanted = given(options);
    demand_known(wanted);
    return {.plan = text_or_empty(wanted.plan),
            .wait = policy_of(wanted.wait),
            .scope = wanted.shared == 0 ? tollbar::Scope::process : tollbar::Scope::shared};
}

std::vector<tollbar_missing> to_c(const std::vector<tollbar::absent>& all, std::int64_t waited_ns) {
    std::vector<tollbar_missing> list;
    list.reserve(all.size());
    for (const tollbar::absent& one : all) list.push_back(missing::shared_member(one, waited_ns));
    return list;
}

}  // namespace

int tollbar_group_create(uint32_t ranks, const tollbar_group_options* options, tollbar_group** group) {
    return guarded([&] {
        if (group == nullptr) return fail(EINVAL, no_group);
        *group = new tollbar_group(tollbar::group(ranks, to_cxx(options)));
        return 0;
    });
}

int tollbar_group_open(const char* name, uint32_t ranks, const tollbar_group_options* options, tollbar_group** group) {
    return guarded([&] {
        if (group == nullptr) return fail(EINVAL, no_group);
        if (name == nullptr) return fail(EINVAL, "name is NULL");
        *group = new tollbar_group(tollbar::group::open(name, ranks, to_cxx(options)));
        return 0;
    });
}

int tollbar_group_destroy(tollbar_group* group) {
    const KeptErrno kept;
    const tollbar::detail::NotCancelled not_cancelled;
    delete group;
    return 0;
}

uint32_t tollbar_group_ranks(const tollbar_group* group) { return group == nullptr ? 0 : group->group.ranks(); }

const char* tollbar_group_plan(const tollbar_group* group) { return group == nullptr ? nullptr : group->plan.c_str(); }

int tollbar_group_missing(const tollbar_group* group, tollbar_missing* missing, size_t capacity, size_t* count) {
    if (group == nullptr) return fail(EINVAL, no_group);
    return write_missing(missing, capacity, count, [&] { return to_c(group->group.missing(), 0); });
}

int tollbar_group_join(tollbar_group* group, uint32_t rank, tollbar_participant** participant) {
    return guarded([&] {
        if (group == nullptr) return fail(EINVAL, no_group);
        if (participant == nullptr) return fail(EINVAL, no_participant);
        *participant = new tollbar_participant{.participant = group->group.join(rank)};
        return 0;
    });
}

int tollbar_participant_leave(tollbar_participant* participant) {
    const KeptErrno kept;
    const tollbar::detail::NotCancelled not_cancelled;
    delete participant;
    return 0;
}

int tollbar_participant_arrive(tollbar_participant* participant) {
    if (participant == nullptr) return fail(EINVAL, no_participant);
    participant->participant.arrive();
    return 0;
}

int tollbar_participant_test(tollbar_participant* participant) {
    if (participant == nullptr) return fail(EINVAL, no_participant);
    return participant->participant.test() ? 0 : EAGAIN;
}

int tollbar_participant_wait(tollbar_participant* participant) {
    if (participant == nullptr) return fail(EINVAL, no_participant);
    participant->participant.wait();
    return 0;
}

int tollbar_participant_arrive_and_wait(tollbar_participant* participant) {
    if (participant == nullptr) return fail(EINVAL, no_participant);
    participant->participant.arrive_and_wait();
    return 0;
}

int tollbar_participant_wait_for(tollbar_participant* participant, int64_t nanoseconds) {
    return guarded([&] {
        if (participant == nullptr) return fail(EINVAL, no_participant);
        participant->waited.begin(participant->participant.episode());
        const auto result = participant->participant.wait_for(std::chrono::nanoseconds(nanoseconds));
        if (result) return 0;
        return fail(ETIMEDOUT, missing::text_of(missing::members_of(result.missing), only_signals_missing));
    });
}

int tollbar_participant_missing(const tollbar_participant* participant, tollbar_missing* missing, size_t capacity,
                                size_t* count) {
    if (participant == nullptr) return fail(EINVAL, no_participant);
    return write_missing(missing, capacity, count, [&] {
        const tollbar::participant& self = participant->participant;
        return to_c(self.missing(), participant->waited.ns(self.episode()));
    });
}

uint64_t tollbar_participant_episode(const tollbar_participant* participant) {
    return participant == nullptr ? 0 : participant->participant.episode();
}
