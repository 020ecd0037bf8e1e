// SPDX-License-Identifier: Apache-2.0
#include "analysis/alike.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/price.hpp>
#include <tollbar/verify.hpp>

#include "algorithms/spellings.hpp"
#include "refusal.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

constexpr LogP set_b{.L = 20, .o = 1, .g = 8};

/// From the evaluation of every message, which knows no shortcut.
std::vector<double> last_received_us(const Plan& plan, Receive receive) {
    std::vector<double> last(plan.ranks());
    for (const Message& message : price_messages(plan, set_b, receive))
        last[message.to] = std::max(last[message.to], message.received_us);
    return last;
}

}  // namespace

TEST_CASE("in dissemination one rank stands for all, at every size and with several ways") {
    for (const char* spelling : {"dissemination", "dissemination:2", "dissemination:3", "dissemination:7"})
        for (Rank ranks = 1; ranks <= 130; ++ranks) {
            const Plan plan = make_plan(spelling, ranks);
            CAPTURE(plan.name());
            CAPTURE(ranks);
            REQUIRE(match_one_for_all(plan));
            for (const Receive receive : {Receive::at_await, Receive::plan_order})
                CHECK(price(plan, set_b, receive).completion_us == last_received_us(plan, receive));
        }
}

TEST_CASE("in pairwise and butterfly one rank stands for all, at powers of two") {
    for (const char* spelling : {"pairwise", "butterfly"})
        for (const Rank ranks : {2U, 4U, 16U, 128U}) {
            const Plan plan = make_plan(spelling, ranks);
            REQUIRE(match_one_for_all(plan));
            CHECK(price(plan, set_b).completion_us == last_received_us(plan, Receive::at_await));
        }
}

TEST_CASE("a root or a fold has nobody who stands for it") {
    for (const char* spelling : {"central", "mcs", "bst", "central@4/dissemination", "turnstile", "combination"})
        for (const Rank ranks : {5U, 8U, 64U}) CHECK_FALSE(match_one_for_all(make_plan(spelling, ranks)));
    for (const char* spelling : {"pairwise", "butterfly"})
        for (const Rank ranks : {5U, 24U, 63U}) CHECK_FALSE(match_one_for_all(make_plan(spelling, ranks)));
}

TEST_CASE("a million ranks of dissemination are priced without an array of their steps") {
    const Price cost = price(make_plan("dissemination", 1'000'000), {.L = 10, .o = 5, .g = 3});
    CHECK(cost.last_us == 400);
    CHECK(cost.messages == 20'000'000);
}

TEST_CASE("one rank that differs is not passed over") {
    const Plan all = make_plan("dissemination", 9);
    const Plan but_one("but one", 9, [all](Rank self) {
        Program program = all.program(self);
        if (self == 7) std::swap(program[1], program[3]);
        return program;
    });
    CHECK_FALSE(match_one_for_all(but_one));
    CHECK(price(but_one, set_b, Receive::plan_order).first_us != price(but_one, set_b, Receive::plan_order).last_us);
}

TEST_CASE("plans that are alike and no barrier are refused in the words of their verdict") {
    for (const char* words : {"0: ?2 !1\n1: ?0 !2\n2: ?1 !0", "0: !1 !1\n1: !2 !2\n2: !0 !0", "0: !1\n1: !2\n2: !0",
                              "0: !0\n1: !1", "0: !1 !2\n1: !2 !0\n2: !0 !1"}) {
        const Plan plan = parse_plan("ring", words);
        CAPTURE(words);
        CHECK(refusal([&] { (void)price(plan, set_b); }).ends_with(verify(plan).explain()));
    }
}
