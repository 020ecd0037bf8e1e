// SPDX-License-Identifier: Apache-2.0
#include <tollbar/algorithms.hpp>
#include <tollbar/price.hpp>

#include "algorithms/spellings.hpp"
#include "naive.hpp"
#include "refusal.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace tollbar;

namespace {

constexpr LogP set_a{.L = 10, .o = 5, .g = 3};
constexpr LogP set_b{.L = 20, .o = 1, .g = 8};

std::vector<double> completion(std::string_view words, Receive receive, std::span<const Late> late = {}) {
    return price(parse_plan("written", words), set_a, receive, late).completion_us;
}

std::uint64_t steps_of(const Plan& plan) {
    std::uint64_t steps = 0;
    for (Rank index = 0; index < plan.members(); ++index) steps += plan.program(plan.member_at(index)).size();
    return steps;
}

}  // namespace

TEST_CASE("one message costs an overhead, the latency, and an overhead") {
    const Price cost = price(parse_plan("one", "0: !1\n1: ?0"), set_a);
    CHECK(cost.completion_us == std::vector<double>{5, 20});
    CHECK(cost.last_us == 20);
    CHECK(cost.first_us == 5);
    CHECK(cost.mean_us == 12.5);
    CHECK(cost.messages == 1);
    CHECK(cost.operations == 2);
}

TEST_CASE("a receiver's overhead of its own is paid by who receives, and by nobody who sends") {
    const LogP apart{.L = 10, .o = 2, .g = 3, .o_r = 6};
    CHECK(price(parse_plan("one", "0: !1\n1: ?0"), apart).completion_us == std::vector<double>{2, 18});
    // Sends start max(o_s, g) = 3 apart, receives max(o_r, g) = 6: equations 1 and 2 of Hoefler et al.
    const Plan plan = parse_plan("two out, two in", "0: !2 !3\n1: !2 !3\n2: ?0 ?1\n3: ?0 ?1");
    CHECK(price(plan, apart).completion_us == std::vector<double>{5, 5, 24, 27});
    const auto messages = price_messages(plan, apart);
    CHECK(messages.front().arrived_us == 12);
    CHECK(messages.front().received_us == 18);
}

TEST_CASE("one overhead for both stands for two that are equal, whatever the receive rule") {
    for (const Receive receive : {Receive::at_await, Receive::plan_order, Receive::on_arrival})
        for (const char* spelling : {"central", "mcs", "dissemination", "turnstile"}) {
            const Plan plan = make_plan(spelling, 13);
            CHECK(price(plan, {10, 5, 3}, receive).completion_us == price(plan, {10, 5, 3, 5}, receive).completion_us);
            CHECK(price(plan, {10, 5, 3}, receive).last_us != price(plan, {10, 5, 3, 7}, receive).last_us);
        }
}

TEST_CASE("times need not be whole") {
    const Price cost = price(make_plan("dissemination", 4), {.L = 0.5, .o = 0.25, .g = 0.125});
    CHECK(cost.last_us == 2);
}

TEST_CASE("starts of one rank's sends and of its receives are the larger of o and g apart") {
    const Plan plan = parse_plan("two out, two in", "0: !2 !3\n1: !2 !3\n2: ?0 ?1\n3: ?0 ?1");
    CHECK(price(plan, set_a).completion_us == std::vector<double>{10, 10, 25, 30});
    CHECK(price(plan, set_b).completion_us == std::vector<double>{9, 9, 30, 38});
}

TEST_CASE("the send port and the receive port do not wait for each other") {
    // Rank 1 receives at 21 and sends at 22, although g is 8.
    const Plan plan = parse_plan("relay", "0: !1\n1: ?0 !2\n2: ?1");
    CHECK(price(plan, set_b).completion_us == std::vector<double>{1, 23, 44});
}

TEST_CASE("inside a set messages are taken as they arrive, of equal ones the lower sender's first") {
    const Plan plan = parse_plan("set", "0: ?3 ?2 ?1\n1: !0\n2: !0\n3: !0");
    const auto lateness = std::array{Late{1, 3}};
    const auto messages = price_messages(plan, set_a, Receive::at_await, lateness);
    REQUIRE(messages.size() == 3);
    CHECK(messages[0].from == 2);
    CHECK(messages[1].from == 3);
    CHECK(messages[2].from == 1);
    CHECK(messages[2].sent_us == 3);
    CHECK(messages[2].arrived_us == 18);
    CHECK(messages[2].received_us == 30);
}

TEST_CASE("plan order costs more where a late child is listed early") {
    // 1 hears from 2 first, so its signal arrives at 35; 3's has been there since 15.
    constexpr std::string_view early = "0: ?1 ?3\n1: ?2 !0\n2: !1\n3: !0";
    CHECK(completion(early, Receive::at_await)[0] == 40);
    CHECK(completion(early, Receive::plan_order)[0] == 45);
    constexpr std::string_view listed_last = "0: ?3 ?1\n1: ?2 !0\n2: !1\n3: !0";
    CHECK(completion(listed_last, Receive::at_await)[0] == 40);
    CHECK(completion(listed_last, Receive::plan_order)[0] == 40);
}

TEST_CASE("plan order is never cheaper, and dearer for some plans") {
    int dearer = 0;
    for (const LogP& logp : {set_a, set_b})
        for (const std::string spelling : every_plan)
            for (Rank ranks = 1; ranks <= 64; ++ranks) {
                const Plan plan = make_plan(spelling, ranks);
                const double listed = price(plan, logp, Receive::plan_order).last_us;
                const double arrived = price(plan, logp, Receive::at_await).last_us;
                CHECK(listed >= arrived);
                dearer += listed > arrived ? 1 : 0;
            }
    CHECK(dearer > 0);
}

TEST_CASE("mcs with the larger child woken first costs 120 us instead of 110 for 8 ranks, and differs at 57 sizes") {
    int different = 0;
    for (Rank ranks = 1; ranks <= 64; ++ranks) {
        std::vector<Program> programs = naive::written_out(make_plan("mcs", ranks));
        for (Program& program : programs) {
            const auto after_last_await = std::find_if(program.rbegin(), program.rend(), is_await).base();
            std::reverse(after_last_await, program.end());
        }
        const Price larger_first = price(Plan("larger first", programs), set_a);
        const Price listed = price(make_plan("mcs", ranks), set_a);
        if (ranks == 8) {
            CHECK(larger_first.last_us == 120);
            CHECK(listed.last_us == 110);
        }
        different += larger_first.last_us != listed.last_us ? 1 : 0;
    }
    CHECK(different == 57);
}

TEST_CASE("a late rank delays those that hear of it, and only those") {
    const auto late_leaf = std::array{Late{2, 100}};
    CHECK(completion("0: ?1 ?2 !1 !2\n1: !0 ?0\n2: !0 ?0", Receive::at_await, late_leaf) ==
          std::vector<double>{130, 140, 145});
    CHECK(completion("0: !1\n1: ?0\n2:", Receive::at_await, late_leaf) == std::vector<double>{5, 20, 100});
}

TEST_CASE("nobody is done before the last has entered, whoever is late and whatever the receive rule") {
    for (const Receive receive : {Receive::at_await, Receive::plan_order, Receive::on_arrival})
        for (const std::string spelling : every_plan)
            for (Rank late = 0; late < 9; ++late) {
                const auto lateness = std::array{Late{late, 1000}};
                CHECK(price(make_plan(spelling, 9), set_a, receive, lateness).first_us >= 1000);
            }
}

TEST_CASE("one late rank costs no more than if all were as late, when messages wait for their await") {
    for (const Receive receive : {Receive::at_await, Receive::plan_order})
        for (const std::string spelling : every_plan)
            for (Rank late = 0; late < 9; ++late) {
                const Plan plan = make_plan(spelling, 9);
                const auto lateness = std::array{Late{late, 1000}};
                CHECK(price(plan, set_a, receive, lateness).last_us <= 1000 + price(plan, set_a, receive).last_us);
            }
}

TEST_CASE("a turnstile costs two messages one after the other, and max(o, g) for each further arrival") {
    for (const LogP& logp : {set_a, set_b})
        for (Rank ranks = 2; ranks <= 300; ++ranks) {
            const Price cost = price(make_plan("turnstile", ranks), logp);
            const double expected = 2 * (2 * logp.o + logp.L) + (ranks - 1) * std::max(logp.o, logp.g);
            CHECK(cost.last_us == expected);
            CHECK(cost.first_us == expected);  // all are released together
            CHECK(cost.messages == 2 * ranks);
        }
    CHECK(price(make_plan("turnstile", 64), set_a).last_us == 355);
    CHECK(price(make_plan("turnstile", 1), set_a).last_us == 0);
}

TEST_CASE("a combination costs its turnstiles around its plan between the processors") {
    for (const Rank processors : {2U, 3U, 8U}) {
        const double between = price(make_plan("dissemination", processors), set_a).last_us;
        const double counters = price(make_plan("turnstile", 64 / processors), set_a).last_us;
        const Plan plan = make_plan("combination:" + std::to_string(processors), processors * (64 / processors));
        CHECK(price(plan, set_a).last_us == counters + between);
        CHECK(price(plan, set_a).first_us == counters + between);
    }
}

TEST_CASE("whoever comes late to a turnstile pays for one arrival, not for all") {
    const auto late = std::array{Late{3, 1000}};
    for (const Receive receive : {Receive::at_await, Receive::on_arrival})
        CHECK(price(make_plan("turnstile", 64), set_a, receive, late).last_us == 1040);
}

TEST_CASE("a role that signals before its last awaits sends one message after the other") {
    const Plan plan = parse_plan("mine", "0: !a ?a\n1: ?a !a\n2: ?a !a\na: ?0 !1 !2 ?1 ?2 !0");
    const auto messages = price_messages(plan, set_a);
    CHECK(messages[1].from == role(0));
    CHECK(messages[1].sent_us == 20);
    CHECK(messages[2].sent_us == 25);
}

TEST_CASE("a late rank must be a rank") {
    const auto late = std::array{Late{role(0), 1}};
    CHECK(refusal([&] { (void)price(make_plan("turnstile", 3), set_a, Receive::at_await, late); }) ==
          "late rank 16777216 is not one of 0..2");
}

TEST_CASE("a rank named late twice enters at the later time") {
    const auto lateness = std::array{Late{0, 7}, Late{0, 3}};
    CHECK(price(make_plan("central", 1), set_a, Receive::at_await, lateness).last_us == 7);
}

TEST_CASE("all messages come in the order in which they are received, each as the parameters demand") {
    for (const Receive receive : {Receive::at_await, Receive::plan_order, Receive::on_arrival})
        for (const LogP& logp : {set_a, set_b})
            for (const Algorithm& algorithm : catalogue()) {
                const Plan plan = make_plan(algorithm.name, 13);
                const auto messages = price_messages(plan, logp, receive);
                CHECK(messages.size() == price(plan, logp, receive).messages);
                CHECK(std::ranges::is_sorted(messages, {},
                                             [](const Message& m) { return std::tuple(m.received_us, m.to, m.from); }));
                for (const Message& message : messages) {
                    CHECK(plan.index_of(message.from) < plan.members());
                    CHECK(message.arrived_us == message.sent_us + logp.o + logp.L);
                    CHECK(message.received_us >= message.arrived_us + logp.o);
                }
            }
}

TEST_CASE("parameters that are no times are refused by name and value") {
    const Plan plan = make_plan("central", 3);
    CHECK(refusal([&] { (void)price(plan, {-1, 5, 3}); }) == "L is a finite time of at least 0 us, not -1");
    CHECK(refusal([&] { (void)price(plan, {10, -0.5, 3}); }) == "o is a finite time of at least 0 us, not -0.5");
    CHECK(refusal([&] { (void)price(plan, {10, 5, 3, -2}); }) == "o_r is a finite time of at least 0 us, not -2");
    CHECK(refusal([&] {
              (void)price(plan, {10, 5, std::numeric_limits<double>::quiet_NaN()});
          }) == "g is a finite time of at least 0 us, not nan");
    CHECK(refusal([&] {
              (void)price_messages(plan, {std::numeric_limits<double>::infinity(), 5, 3});
          }) == "L is a finite time of at least 0 us, not inf");
}

TEST_CASE("a late rank that does not exist and a lateness that is no time are refused") {
    const Plan plan = make_plan("central", 3);
    const auto refused = [&](Late late) {
        return refusal([&] { (void)price(plan, set_a, Receive::at_await, std::array{late}); });
    };
    CHECK(refused({3, 1}) == "late rank 3 is not one of 0..2");
    CHECK(refused({1, -2}) == "the lateness of rank 1 is a finite time of at least 0 us, not -2");
}

TEST_CASE("a plan that cannot finish has no price, and the reason is given, whatever the receive rule") {
    for (const Receive receive : {Receive::at_await, Receive::plan_order, Receive::on_arrival}) {
        const auto refused = [&](std::string_view words) {
            return refusal([&] { (void)price(parse_plan("mine", words), set_a, receive); });
        };
        CHECK(refused("0: ?1 !1\n1: ?0 !0") ==
              "plan 'mine' has no price: rank 0 awaits rank 1, which cannot get so far");
        CHECK(refused("0: ?1\n1:") == "plan 'mine' has no price: rank 0 awaits rank 1, which never signals it");
        CHECK(refused("0: !5") == "plan 'mine' has no price: rank 0 names rank 5, which does not exist");
    }
}

TEST_CASE("pricing costs a bounded number of operations a step, whatever the ranks") {
    for (Rank ranks = 64; ranks <= 65536; ranks *= 4) {
        const Plan plan = make_plan("dissemination", ranks);
        const std::uint64_t steps = std::uint64_t{ranks} * plan.program(0).size();
        CHECK(price(plan, set_a).operations == steps);
        CHECK(price(plan, set_a, Receive::plan_order).operations == steps);
        CHECK(price(plan, set_a, Receive::on_arrival).operations <= 4 * steps);
    }
    for (const Algorithm& algorithm : catalogue()) {
        const Plan plan = make_plan(algorithm.name, 5000);
        CHECK(price(plan, set_a, Receive::on_arrival).operations <= 4 * steps_of(plan));
    }
}
