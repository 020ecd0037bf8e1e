// SPDX-License-Identifier: Apache-2.0
// tollbar_plan_*: plans, their proofs and their prices.
#include <tollbar/algorithms.hpp>
#include <tollbar/plan.hpp>
#include <tollbar/price.hpp>
#include <tollbar/tollbar.h>
#include <tollbar/verify.hpp>

#include "base/error.hpp"
#include "plan/wording.hpp"

#include <cerrno>
#include <stdexcept>
#include <string>
#include <vector>

using namespace tollbar::detail::c_door;
using tollbar::detail::worded, tollbar::detail::named;

struct tollbar_plan {
    tollbar::Plan plan;
};

namespace {

constexpr const char* no_plan = "plan is NULL";

static_assert(TOLLBAR_RECEIVE_AT_AWAIT == static_cast<int>(tollbar::Receive::at_await));
static_assert(TOLLBAR_RECEIVE_PLAN_ORDER == static_cast<int>(tollbar::Receive::plan_order));
static_assert(TOLLBAR_RECEIVE_ON_ARRIVAL == static_cast<int>(tollbar::Receive::on_arrival));

tollbar::Receive to_cxx(int receive) {
    if (receive < TOLLBAR_RECEIVE_AT_AWAIT || receive > TOLLBAR_RECEIVE_ON_ARRIVAL)
        throw std::invalid_argument("receive is one of TOLLBAR_RECEIVE_AT_AWAIT, _PLAN_ORDER, _ON_ARRIVAL, not " +
                                    std::to_string(receive));
    return static_cast<tollbar::Receive>(receive);
}

}  // namespace

int tollbar_plan_create(const char* spelling, uint32_t ranks, tollbar_plan** plan) {
    return guarded([&] {
        if (plan == nullptr) return fail(EINVAL, no_plan);
        if (spelling == nullptr) return fail(EINVAL, "spelling is NULL");
        *plan = new tollbar_plan{tollbar::make_plan(spelling, ranks)};
        return 0;
    });
}

int tollbar_plan_parse(const char* words, tollbar_plan** plan) {
    return guarded([&] {
        if (plan == nullptr) return fail(EINVAL, no_plan);
        if (words == nullptr) return fail(EINVAL, "words is NULL");
        *plan = new tollbar_plan{tollbar::parse_plan("parsed", words)};
        return 0;
    });
}

int tollbar_plan_destroy(tollbar_plan* plan) {
    delete plan;
    return 0;
}

uint32_t tollbar_plan_ranks(const tollbar_plan* plan) { return plan == nullptr ? 0 : plan->plan.ranks(); }

static_assert(TOLLBAR_ROLE(0) == tollbar::role(0));

uint32_t tollbar_plan_roles(const tollbar_plan* plan) { return plan == nullptr ? 0 : plan->plan.roles(); }

int tollbar_plan_program(const tollbar_plan* plan, uint32_t rank, char* text, size_t capacity, size_t* length) {
    return guarded([&] {
        if (plan == nullptr) return fail(EINVAL, no_plan);
        if (text == nullptr && capacity != 0) return fail(EINVAL, "text is NULL");
        const std::string program = to_text(plan->plan.program(rank));
        if (length != nullptr) *length = program.size();
        const bool fits = capacity > program.size();
        write_text(program, text, capacity);
        if (fits) return 0;
        return fail(ENOSPC, worded({"the program of ", named(rank), " needs ", program.size() + 1,
                                    " characters, there is room for ", capacity}));
    });
}

int tollbar_plan_verify(const tollbar_plan* plan, int* holds, char* text, size_t capacity) {
    return guarded([&] {
        if (plan == nullptr) return fail(EINVAL, no_plan);
        if (holds == nullptr || (text == nullptr && capacity != 0)) return fail(EINVAL, "holds or text is NULL");
        const tollbar::Verdict verdict = verify(plan->plan);
        write_text(verdict.explain(), text, capacity);
        *holds = verdict.holds() ? 1 : 0;
        return 0;
    });
}

int tollbar_plan_price(const tollbar_plan* plan, tollbar_logp logp, int receive, const tollbar_late* late, size_t lates,
                       tollbar_price* price) {
    return guarded([&] {
        if (plan == nullptr) return fail(EINVAL, no_plan);
        if (price == nullptr || (late == nullptr && lates != 0)) return fail(EINVAL, "price or late is NULL");
        std::vector<tollbar::Late> all;
        for (size_t i = 0; i < lates; ++i) all.push_back({late[i].rank, late[i].by_us});
        const tollbar::Price found = tollbar::price(plan->plan, {logp.L, logp.o, logp.g}, to_cxx(receive), all);
        *price = {found.last_us, found.first_us, found.mean_us, found.messages, {}};
        return 0;
    });
}
