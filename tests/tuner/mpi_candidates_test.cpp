// SPDX-License-Identifier: Apache-2.0
// What the model would try in a communicator, and in which order.
#include "tuner/mpi_candidates.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

std::vector<std::string> order(Rank ranks, Rank nodes, bool crowded, const char* objective = "latency",
                               const MpiTransports& transports = default_mpi_transports) {
    return in_order_of_trial(mpi_candidates({.ranks = ranks,
                                             .nodes = nodes,
                                             .per_node = (ranks - 1) / nodes + 1,
                                             .crowded = crowded,
                                             .mpi = "any",
                                             .objective = objective},
                                            transports));
}

}  // namespace

TEST_CASE("every candidate can be run, and is named once") {
    for (const Rank ranks : {1u, 2u, 3u, 8u, 13u, 70u}) {
        for (const Rank nodes : {1u, 2u, 7u}) {
            if (nodes > ranks) continue;
            const auto all = order(ranks, nodes, false);
            CHECK_FALSE(all.empty());
            CHECK(std::set(all.begin(), all.end()).size() == all.size());
            for (const std::string& spelling : all) {
                if (spelling == "turnstile") {
                    CHECK(nodes == 1);
                } else if (spelling.starts_with("turnstile/")) {
                    CHECK(make_plan(spelling.substr(10), nodes).ranks() == nodes);
                } else {
                    CHECK(make_plan(spelling, ranks).ranks() == ranks);
                }
            }
        }
    }
}

TEST_CASE("crowded ranks of one node meet at a word, which has them wait least often") {
    for (const Rank ranks : {4u, 8u, 16u, 64u}) CHECK(order(ranks, 1, true).front() == "turnstile");
}

TEST_CASE("few ranks with a CPU each meet at a word, many at a plan") {
    CHECK(order(2, 1, false).front() == "turnstile");
    CHECK(order(8, 1, false).front() == "turnstile");
    CHECK(order(64, 1, false).front().starts_with("dissemination"));
}

TEST_CASE("between nodes with a CPU a rank few rounds are best, and few messages are tried next") {
    const auto all = order(16, 16, false);
    CHECK(all[0].starts_with("dissemination"));
    CHECK(all[1] == "central");
}

TEST_CASE("the ranks of a node meet before one of them goes outside") {
    CHECK(order(64, 16, false).front().starts_with("turnstile/dissemination"));
    CHECK(order(64, 16, true).front() == "turnstile/central");
}

TEST_CASE("the radix that fits follows from the price of a message") {
    const auto with = [](double L, double o) {
        return order(64, 64, false, "latency", {.messages = {L, o, o}, .words = default_mpi_transports.words}).front();
    };
    CHECK(with(1, 10) == "butterfly");        // messages cost the CPU: one a round; ties go by the catalogue's order
    CHECK(with(20, 1) == "dissemination:3");  // the way is longer: many a round
    CHECK(with(100, 0.1) == "central");       // the way is all: two of them
}

TEST_CASE("exchanges, which end everywhere at once, are the model's choice by skew") {
    const std::string first = order(64, 64, false, "skew").front();
    CHECK((first == "butterfly" || first == "pairwise" || first.starts_with("dissemination")));
}

TEST_CASE("the first few are of different families") {
    for (const bool crowded : {false, true}) {
        auto all = order(16, 1, crowded);
        std::set<std::string> families;
        for (std::size_t i = 0; i < 5; ++i) families.insert(all[i].substr(0, all[i].find(':')));
        CHECK(families.size() == 5);
    }
}

TEST_CASE("plans whose words are equal are tried once") {
    // Two ranks: all exchanges are one plan, all trees another one.
    CHECK(order(2, 1, false).size() == 3);
}

namespace {

/// A node of caches of eight cores each.
MpiTransports of_eights() {
    MpiTransports transports = default_mpi_transports;
    transports.one_word = transports.cluster = 8;
    return transports;
}

bool has(const std::vector<std::string>& order, const std::string& prefix) {
    return std::ranges::any_of(order, [&](const std::string& plan) { return plan.starts_with(prefix); });
}

}  // namespace

TEST_CASE("a word of one cache costs too much once it goes from cache to cache") {
    CHECK(order(9, 1, false).front() == "turnstile");
    CHECK(order(9, 1, false, "latency", of_eights()).front() != "turnstile");
    CHECK(order(8, 1, false, "latency", of_eights()).front() == "turnstile");
}

TEST_CASE("ranks of several caches of a node meet in each as well, and it is among the first that are tried") {
    const auto all = order(32, 1, false, "latency", of_eights());
    const auto first = std::ranges::find_if(all,
                                            [](const std::string& plan) { return plan.starts_with("turnstile@8/"); });
    CHECK(first - all.begin() < 5);
    for (const std::string& plan : all) CHECK(make_plan(plan, 32).ranks() == 32);
    CHECK_FALSE(has(order(8, 1, false, "latency", of_eights()), "turnstile@8/"));
}

TEST_CASE("caches change nothing for ranks that are crowded") {
    for (const Rank ranks : {4u, 12u, 32u})
        for (const Rank nodes : {1u, 2u})
            CHECK(order(ranks, nodes, true, "latency", of_eights()) == order(ranks, nodes, true));
}
