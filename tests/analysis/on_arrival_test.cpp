// SPDX-License-Identifier: Apache-2.0
#include <tollbar/algorithms.hpp>
#include <tollbar/price.hpp>

#include "algorithms/spellings.hpp"
#include "naive.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace tollbar;

namespace {

constexpr LogP set_a{.L = 10, .o = 5, .g = 3};
constexpr LogP set_b{.L = 20, .o = 1, .g = 8};

std::vector<double> completion(std::string_view words, const LogP& logp, std::span<const Late> late = {}) {
    return price(parse_plan("written", words), logp, Receive::on_arrival, late).completion_us;
}

}  // namespace

TEST_CASE("a message that is not awaited yet takes the CPU all the same") {
    // Rank 0 sends at 0, 5, 10, 15; rank 1's message arrives at 15, before the last send, and goes first.
    constexpr std::string_view words = "0: !1 !2 !3 !4 ?1\n1: !0 ?0\n2: ?0\n3: ?0\n4: ?0";
    CHECK(completion(words, set_a)[0] == 25);
    const auto messages = price_messages(parse_plan("written", words), set_a, Receive::on_arrival);
    const auto last_send = std::ranges::find(messages, 4U, &Message::to);
    CHECK(last_send->sent_us == 20);
    CHECK(price(parse_plan("written", words), set_a, Receive::at_await).completion_us[0] == 25);
    const auto patient = price_messages(parse_plan("written", words), set_a, Receive::at_await);
    CHECK(std::ranges::find(patient, 4U, &Message::to)->sent_us == 15);
}

TEST_CASE("starts of one rank's sends are g apart, not the larger of o and g, and never while the CPU is busy") {
    CHECK(completion("0: !1 !2\n1: ?0\n2: ?0", set_b) == std::vector<double>{9, 22, 30});
    CHECK(completion("0: !1 !2\n1: ?0\n2: ?0", set_a) == std::vector<double>{10, 20, 25});
}

TEST_CASE("starts of one rank's receives are g apart") {
    CHECK(completion("0: ?1 ?2\n1: !0\n2: !0", set_b) == std::vector<double>{30, 1, 1});
}

TEST_CASE("messages that wait are taken in the order in which they were sent") {
    const Plan plan = parse_plan("two", "0: ?1 ?2\n1: !0\n2: !0");
    const auto lateness = std::array{Late{1, 1}};
    const auto messages = price_messages(plan, set_b, Receive::on_arrival, lateness);
    CHECK(messages[0].from == 2);
    CHECK(messages[1].from == 1);
    CHECK(messages[1].received_us == 30);
}

TEST_CASE("a late rank's CPU takes nothing before the rank has entered") {
    const auto lateness = std::array{Late{0, 100}};
    CHECK(completion("0: ?1\n1: !0", set_a, lateness) == std::vector<double>{105, 5});
}

TEST_CASE("every plan's completion is that of a simulation with all events in one queue") {
    for (const LogP logp : {set_a, set_b, LogP{1, 1, 1}, LogP{5, 2, 5}, LogP{0, 2, 0}, LogP{3, 0, 1}, LogP{0, 0, 0},
                            LogP{10, 2, 3, 6}, LogP{4, 6, 1, 0}})
        for (const std::string spelling : every_plan)
            for (const Rank ranks : {1U, 2U, 3U, 5U, 8U, 15U, 19U, 27U, 40U}) {
                const Plan plan = make_plan(spelling, ranks);
                CAPTURE(spelling);
                CAPTURE(ranks);
                std::vector<double> entered(ranks);
                const auto expected = [&] {
                    entered.resize(plan.members());
                    auto done = naive::on_arrival(naive::of_members(plan), ranks, logp, entered);
                    done.resize(ranks);
                    return done;
                };
                CHECK(price(plan, logp, Receive::on_arrival).completion_us == expected());
                entered[ranks / 2] = 17;
                const auto late = std::array{Late{ranks / 2, 17}};
                CHECK(price(plan, logp, Receive::on_arrival, late).completion_us == expected());
            }
}

TEST_CASE("most plans cost the same when messages take the CPU on arrival as when they do at the await") {
    for (const char* spelling : {"central", "dissemination", "pairwise", "tournament", "bst"})
        for (const Rank ranks : {2U, 4U, 16U, 64U})
            CHECK(price(make_plan(spelling, ranks), set_a, Receive::on_arrival).last_us ==
                  price(make_plan(spelling, ranks), set_a, Receive::at_await).last_us);
}

TEST_CASE("all messages at one rank at once cost a bounded number of events each") {
    for (Rank ranks = 64; ranks <= 16384; ranks *= 4) {
        const Price cost = price(make_plan("central", ranks), set_a, Receive::on_arrival);
        CHECK(cost.operations <= 6 * cost.messages);
    }
}
