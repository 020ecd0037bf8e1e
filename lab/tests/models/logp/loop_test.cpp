// SPDX-License-Identifier: Apache-2.0
// The loop effect: the period of back-to-back barriers against the price of a single one.
#include <tollbar/algorithms.hpp>
#include <tollbar/models/logp.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>
#include <string_view>
#include <vector>

using namespace tollbar;

namespace {

constexpr LogP set_a{.L = 10, .o = 5, .g = 3};

double ratio(std::string_view spelling, Rank ranks, Receive receive = Receive::at_await) {
    const Plan plan = make_plan(spelling, ranks);
    return loop_period_us(plan, set_a, receive) / price(plan, set_a, receive).last_us;
}

bool near(double value, double published) { return std::abs(value - published) < 0.005; }

}  // namespace

TEST_CASE("a loop of trees whose ranks leave at different times is shorter than its barriers") {
    CHECK(near(ratio("central", 64), 0.955));
    CHECK(near(ratio("central", 8), 0.70));
    CHECK(near(ratio("combining:4", 64), 0.857));
    CHECK(near(ratio("fway_tournament:4", 64), 0.83));
    CHECK(near(ratio("mcs", 64), 0.91));
}

TEST_CASE("a loop of exchanges, and of binomial trees that release the latest last, takes what its barriers take") {
    for (const char* spelling : {"tournament", "bst", "butterfly", "pairwise", "dissemination"}) {
        CAPTURE(spelling);
        CHECK(ratio(spelling, 64) == 1);
    }
}

TEST_CASE("a loop is never longer than its barriers where messages cost their time when they are awaited") {
    for (const Receive receive : {Receive::at_await, Receive::plan_order})
        for (const Algorithm& algorithm : catalogue())
            for (const Rank ranks : {2U, 3U, 7U, 8U, 13U, 64U, 100U}) {
                CAPTURE(algorithm.name);
                CAPTURE(ranks);
                CAPTURE(static_cast<int>(receive));
                CHECK(ratio(algorithm.name, ranks, receive) <= 1 + 1e-9);
                CHECK(ratio(algorithm.name, ranks, receive) > 0.3);
            }
}

TEST_CASE("messages of the next episode that take time before they are awaited can lengthen a loop") {
    CHECK(ratio("butterfly", 13, Receive::on_arrival) > 1.1);
}

TEST_CASE("where the gap is hidden by the overhead, each episode begins where the ranks left the one before") {
    // Ports are then free whenever the CPU is, so single episodes with late ranks make the same loop.
    for (const Receive receive : {Receive::at_await, Receive::plan_order})
        for (const Algorithm& algorithm : catalogue())
            for (Rank ranks = 2; ranks <= 64; ++ranks) {
                const Plan plan = make_plan(algorithm.name, ranks);
                std::vector<Late> late;
                std::vector<double> last_us;
                for (int episode = 0; episode < 12; ++episode) {
                    const Price cost = price(plan, set_a, receive, late);
                    last_us.push_back(cost.last_us);
                    late.clear();
                    for (Rank rank = 0; rank < ranks; ++rank) late.push_back({rank, cost.completion_us[rank]});
                }
                CAPTURE(algorithm.name);
                CAPTURE(ranks);
                CHECK(loop_period_us(plan, set_a, receive) == doctest::Approx((last_us[11] - last_us[5]) / 6));
            }
}

TEST_CASE("a loop of one rank costs nothing") { CHECK(loop_period_us(make_plan("mcs", 1), set_a) == 0); }

TEST_CASE("a plan without a price has no period, nor has one that is too large") {
    CHECK_THROWS_AS(loop_period_us(parse_plan("stuck", "0: ?1 !1\n1: ?0 !0"), set_a), std::invalid_argument);
    CHECK_THROWS_AS(loop_period_us(make_plan("dissemination", 1 << 18), set_a), std::invalid_argument);
    CHECK_THROWS_AS(loop_period_us(make_plan("mcs", 4), {.L = -1, .o = 5, .g = 3}), std::invalid_argument);
}
