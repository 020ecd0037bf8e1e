// SPDX-License-Identifier: Apache-2.0
// tollbar_group_* and tollbar_participant_*: one call of tollbar::group or tollbar::participant each.
#include <tollbar/participant.hpp>
#include <tollbar/tollbar.h>

#include "runtime/error.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>

using namespace tollbar::runtime;

struct tollbar_group {
    explicit tollbar_group(tollbar::group made) : group(std::move(made)), plan(group.plan()) {}

    tollbar::group group;
    std::string plan;
};

struct tollbar_participant {
    tollbar::participant participant;
};

namespace {

constexpr const char* no_group = "group is NULL";

static_assert(TOLLBAR_WAIT_AUTO == static_cast<int>(tollbar::wait_policy::automatic));
static_assert(TOLLBAR_WAIT_SPIN == static_cast<int>(tollbar::wait_policy::spin));
static_assert(TOLLBAR_WAIT_YIELD == static_cast<int>(tollbar::wait_policy::yield));
static_assert(TOLLBAR_WAIT_PARK == static_cast<int>(tollbar::wait_policy::park));
static_assert(TOLLBAR_NEVER_JOINED == static_cast<int>(tollbar::absent::state::never_joined));
static_assert(TOLLBAR_LEFT == static_cast<int>(tollbar::absent::state::left));
static_assert(TOLLBAR_RUNNING == static_cast<int>(tollbar::absent::state::running));
static_assert(TOLLBAR_DEAD == static_cast<int>(tollbar::absent::state::dead));

tollbar::group_options to_cxx(const tollbar_group_options* options) {
    if (options == nullptr) return {};
    const int wait = options->wait;
    if (wait < TOLLBAR_WAIT_AUTO || wait > TOLLBAR_WAIT_PARK)
        throw std::invalid_argument("wait is one of TOLLBAR_WAIT_AUTO, _SPIN, _YIELD, _PARK, not " +
                                    std::to_string(wait));
    return {.plan = options->plan == nullptr ? "" : options->plan,
            .wait = static_cast<tollbar::wait_policy>(wait),
            .scope = options->shared == 0 ? tollbar::Scope::process : tollbar::Scope::shared};
}

tollbar_absent to_c(const tollbar::absent& one) {
    return {.rank = one.rank,
            .where = static_cast<tollbar_absence>(one.where),
            .process = one.process,
            .thread = one.thread,
            .behind = one.behind};
}

/// The first `capacity` of them; true when all fit.
bool write_missing(const std::vector<tollbar::absent>& all, tollbar_absent* missing, size_t capacity, size_t* count) {
    const size_t fitting = std::min(capacity, all.size());
    std::transform(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(fitting), missing,
                   [](const tollbar::absent& one) { return to_c(one); });
    if (count != nullptr) *count = all.size();
    return fitting == all.size();
}

std::string to_text(const std::vector<tollbar::absent>& all) {
    std::string text;
    for (const tollbar::absent& one : all) text += (text.empty() ? "" : "; ") + tollbar::to_text(one);
    return text;
}

}  // namespace

int tollbar_group_create(tollbar_group** group, uint32_t ranks, const tollbar_group_options* options) {
    return guarded([&] {
        if (group == nullptr) return fail(EINVAL, no_group);
        *group = new tollbar_group(tollbar::group(ranks, to_cxx(options)));
        return 0;
    });
}

int tollbar_group_open(tollbar_group** group, const char* name, uint32_t ranks, const tollbar_group_options* options) {
    return guarded([&] {
        if (group == nullptr) return fail(EINVAL, no_group);
        if (name == nullptr) return fail(EINVAL, "name is NULL");
        *group = new tollbar_group(tollbar::group::open(name, ranks, to_cxx(options)));
        return 0;
    });
}

void tollbar_group_close(tollbar_group* group) {
    const KeptErrno kept;
    delete group;
}

uint32_t tollbar_group_ranks(const tollbar_group* group) { return group == nullptr ? 0 : group->group.ranks(); }

const char* tollbar_group_plan(const tollbar_group* group) { return group == nullptr ? nullptr : group->plan.c_str(); }

int tollbar_group_missing(const tollbar_group* group, tollbar_absent* missing, size_t capacity, size_t* count) {
    return guarded([&] {
        if (group == nullptr) return fail(EINVAL, no_group);
        if (count == nullptr || (missing == nullptr && capacity != 0)) return fail(EINVAL, "missing or count is NULL");
        const auto all = group->group.missing();
        if (write_missing(all, missing, capacity, count)) return 0;
        return fail(ENOSPC,
                    std::to_string(all.size()) + " ranks are missing, there is room for " + std::to_string(capacity));
    });
}

int tollbar_group_join(tollbar_group* group, uint32_t rank, tollbar_participant** participant) {
    return guarded([&] {
        if (group == nullptr) return fail(EINVAL, no_group);
        if (participant == nullptr) return fail(EINVAL, no_participant);
        *participant = new tollbar_participant{group->group.join(rank)};
        return 0;
    });
}

void tollbar_participant_leave(tollbar_participant* participant) {
    const KeptErrno kept;
    delete participant;
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

int tollbar_participant_wait_for(tollbar_participant* participant, int64_t nanoseconds, tollbar_absent* missing,
                                 size_t capacity, size_t* count) {
    return guarded([&] {
        if (participant == nullptr) return fail(EINVAL, no_participant);
        if (missing == nullptr && capacity != 0) return fail(EINVAL, "missing is NULL");
        const auto result = participant->participant.wait_for(std::chrono::nanoseconds(nanoseconds));
        if (result) return 0;
        write_missing(result.missing, missing, capacity, count);
        if (result.missing.empty())
            return fail(ETIMEDOUT, "time ran out; all ranks have arrived, but a signal has not been passed on yet");
        return fail(ETIMEDOUT, to_text(result.missing));
    });
}

uint64_t tollbar_participant_episode(const tollbar_participant* participant) {
    return participant == nullptr ? 0 : participant->participant.episode();
}
