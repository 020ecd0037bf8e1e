// SPDX-License-Identifier: Apache-2.0
#include <tollbar/algorithms.hpp>
#include <tollbar/models/logp.hpp>

#include "algorithms/spellings.hpp"
#include "refusal.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

using namespace tollbar;

namespace {

constexpr LogP set_a{.L = 10, .o = 5, .g = 3};
constexpr LogP set_b{.L = 20, .o = 1, .g = 8};

double last_us(std::string_view spelling, Rank ranks, const LogP& logp) {
    return price(make_plan(spelling, ranks), logp).last_us;
}

}  // namespace

TEST_CASE("a message of one byte, or of none, costs what LogP says") {
    for (const std::uint64_t bytes : {0U, 1U}) {
        const LogP same = with_payload(set_a, 0.5, bytes);
        CHECK(same.L == set_a.L);
        CHECK(same.o == set_a.o);
        CHECK(same.g == set_a.g);
    }
}

TEST_CASE("each further byte is G longer on its way and keeps the port busy as long") {
    // 101 bytes at 0.1 us: they leave at 0 and at 13, for g + 10 is more than o; they are there 10 us later than empty
    // ones, and the ranks that receive them are busy for o.
    const LogP loaded = with_payload(set_a, 0.1, 101);
    const Price cost = price(parse_plan("two", "0: !1 !2\n1: ?0\n2: ?0"), loaded);
    CHECK(cost.completion_us[1] == doctest::Approx(5 + 20 + 5));
    CHECK(cost.completion_us[2] == doctest::Approx(13 + 5 + 20 + 5));
}

TEST_CASE("a payload costs dissemination its time once a round, and the central counter once a message") {
    constexpr double G = 0.08;  // 100 Mbit/s
    constexpr std::uint64_t frame = 126;
    constexpr double further = 125 * G;
    for (const Rank ranks : {2U, 3U, 8U, 64U}) {
        const double rounds = last_us("dissemination", ranks, set_a) / 20;
        CHECK(last_us("dissemination", ranks, with_payload(set_a, G, frame)) ==
              doctest::Approx(rounds * (20 + further)));
        CHECK(last_us("central", ranks, with_payload(set_a, G, frame)) ==
              doctest::Approx(2 * (20 + further) + 2 * (ranks - 2.0) * (3 + further)));
    }
}

TEST_CASE("with an occupancy of max(o, g) prices stay, but where sends and receives compete for a CPU") {
    int dearer = 0;
    for (const LogP& logp : {set_a, set_b})
        for (const std::string_view spelling : one_level)
            for (Rank ranks = 1; ranks <= 64; ++ranks) {
                CAPTURE(spelling);
                CAPTURE(ranks);
                const double before = last_us(spelling, ranks, logp);
                const double after = last_us(spelling, ranks, with_occupancy(logp, std::max(logp.o, logp.g)));
                const bool exchanges = spelling == "pairwise" || spelling.starts_with("dissemination:");
                if (exchanges) {
                    CHECK(after <= before);
                    dearer += after < before ? 1 : 0;
                } else {
                    CHECK(after == before);
                }
            }
    CHECK(dearer > 0);
}

TEST_CASE("the closed forms of an occupancy are those of the paper with t and f put in") {
    constexpr double t = 261;
    constexpr double f = 10;
    const LogP hot = with_occupancy({.L = 0, .o = t / 2, .g = 0}, f);
    for (Rank ranks = 2; ranks <= 64; ++ranks) {
        CHECK(last_us("central", ranks, hot) == 2 * t + 2 * (ranks - 2.0) * f);
        CHECK(closed_form("central", 0, ranks, hot)->full_us == 2 * t + 2 * (ranks - 2.0) * f);
        CHECK(last_us("dissemination", ranks, hot) == closed_form("dissemination", 1, ranks, hot)->full_us);
    }
    CHECK(last_us("dissemination", 64, hot) == 6 * t);
}

TEST_CASE("a rank that is slow for others does not make the path longer") {
    CHECK(last_us("dissemination", 64, with_occupancy(set_a, 19)) == 120);
    CHECK(last_us("central", 64, with_occupancy(set_a, 19)) == 40 + 124 * 19);
}

TEST_CASE("payloads and occupancies that are no times are refused") {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    CHECK(refusal([] { (void)with_payload(set_a, -1, 8); }) == "G is a finite time of at least 0 us, not -1");
    CHECK(refusal([] { (void)with_payload(set_a, infinite, 8); }) == "G is a finite time of at least 0 us, not inf");
    CHECK(refusal([] { (void)with_payload({.L = 10, .o = -5, .g = 3}, 1, 8); }) ==
          "o is a finite time of at least 0 us, not -5");
    CHECK(refusal([] { (void)with_payload(set_a, 1e300, ~std::uint64_t{0}); }) ==
          "L is a finite time of at least 0 us, not inf");
    CHECK(refusal([] { (void)with_occupancy(set_a, -2); }) ==
          "the occupancy is a finite time of at least 0 us, not -2");
}

TEST_CASE("a payload leaves two overheads as they are, an occupancy keeps their path") {
    const LogP apart{.L = 10, .o = 2, .g = 3, .o_r = 6};
    const LogP heavy = with_payload(apart, 0.5, 11);
    CHECK(heavy.o_r == 6);
    CHECK(heavy.path_us() == 18 + 5);
    CHECK(with_occupancy(apart, 4).path_us() == 18);
    CHECK(last_us("central", 10, with_occupancy(apart, 4)) == 2 * 18 + 16 * 4);
}
