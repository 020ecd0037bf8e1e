// SPDX-License-Identifier: Apache-2.0
// tollbar_udp_*: one call of tollbar::udp_participant each.
#include <tollbar/algorithms.hpp>
#include <tollbar/udp.h>
#include <tollbar/udp.hpp>

#include "algorithms/defaults.hpp"
#include "runtime/error.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

using namespace tollbar::runtime;

struct tollbar_udp_place {
    explicit tollbar_udp_place(const char* text) : place(text), address(place.address()) {}

    tollbar::udp_place place;
    std::string address;
};

struct tollbar_udp {
    tollbar::udp_participant participant;
};

namespace {

tollbar::wait_policy policy_of(int wait) {
    if (wait < TOLLBAR_WAIT_AUTO || wait > TOLLBAR_WAIT_PARK)
        throw std::invalid_argument("wait is one of TOLLBAR_WAIT_AUTO, _SPIN, _YIELD, _PARK, not " +
                                    std::to_string(wait));
    return static_cast<tollbar::wait_policy>(wait);
}

tollbar::Plan plan_of(const char* spelling, uint32_t ranks) {
    return tollbar::make_plan(spelling == nullptr || *spelling == '\0' ? tollbar::defaults::by_messages : spelling,
                              ranks);
}

std::string to_text(const std::vector<tollbar::Rank>& ranks) {
    std::string text;
    for (const tollbar::Rank rank : ranks) text += (text.empty() ? "rank " : ", ") + std::to_string(rank);
    return text + (ranks.size() == 1 ? " has not arrived" : " have not arrived");
}

}  // namespace

int tollbar_udp_place_open(tollbar_udp_place** place, const char* address) {
    return guarded([&] {
        if (place == nullptr || address == nullptr) return fail(EINVAL, "place or address is NULL");
        *place = new tollbar_udp_place(address);
        return 0;
    });
}

const char* tollbar_udp_place_address(const tollbar_udp_place* place) {
    return place == nullptr ? nullptr : place->address.c_str();
}

void tollbar_udp_place_close(tollbar_udp_place* place) {
    const KeptErrno kept;
    delete place;
}

int tollbar_udp_join(tollbar_udp** self, tollbar_udp_place* place, uint32_t rank, uint32_t ranks,
                     const char* const* addresses, const tollbar_udp_options* options) {
    return guarded([&] {
        if (self == nullptr || place == nullptr || addresses == nullptr || options == nullptr)
            return fail(EINVAL, "self, place, addresses or options is NULL");
        const std::unique_ptr<tollbar_udp_place> used(place);
        const tollbar::Plan plan = plan_of(options->plan, ranks);
        if (std::any_of(addresses, addresses + ranks, [](const char* each) { return each == nullptr; }))
            return fail(EINVAL, "an address is NULL");
        const std::vector<std::string> all(addresses, addresses + ranks);
        const tollbar::udp_options how{.key = options->key,
                                       .key_high = options->key_high,
                                       .group = options->group,
                                       .wait = policy_of(options->wait)};
        *self = new tollbar_udp{tollbar::udp_participant(std::move(place->place), plan, rank, all, how)};
        return 0;
    });
}

void tollbar_udp_leave(tollbar_udp* self) {
    const KeptErrno kept;
    delete self;
}

int tollbar_udp_arrive(tollbar_udp* self) {
    if (self == nullptr) return fail(EINVAL, no_participant);
    const KeptErrno kept;
    self->participant.arrive();
    return 0;
}

int tollbar_udp_test(tollbar_udp* self) {
    if (self == nullptr) return fail(EINVAL, no_participant);
    const KeptErrno kept;
    return self->participant.test() ? 0 : EAGAIN;
}

int tollbar_udp_wait(tollbar_udp* self) {
    if (self == nullptr) return fail(EINVAL, no_participant);
    const KeptErrno kept;
    self->participant.wait();
    return 0;
}

int tollbar_udp_wait_for(tollbar_udp* self, int64_t nanoseconds, uint32_t* missing, size_t capacity, size_t* count) {
    return guarded([&] {
        if (self == nullptr) return fail(EINVAL, no_participant);
        if (missing == nullptr && capacity != 0) return fail(EINVAL, "missing is NULL");
        const auto result = self->participant.wait_for(std::chrono::nanoseconds(nanoseconds));
        if (result) return 0;
        std::copy_n(result.missing.begin(), std::min(capacity, result.missing.size()), missing);
        if (count != nullptr) *count = result.missing.size();
        if (result.missing.empty())
            return fail(ETIMEDOUT, "time ran out; all ranks have arrived, but a signal has not been passed on yet");
        return fail(ETIMEDOUT, to_text(result.missing));
    });
}
