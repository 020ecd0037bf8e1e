// SPDX-License-Identifier: Apache-2.0
#include <tollbar/plan.hpp>

#include "refusal.hpp"

#include <doctest/doctest.h>

using namespace tollbar;

TEST_CASE("a plan gives each rank the program of its rule") {
    const Plan plan("chain", 3, [](Rank self) { return self == 0 ? Program{signal(1)} : Program{await(self - 1)}; });
    CHECK(plan.name() == "chain");
    CHECK(plan.ranks() == 3);
    CHECK(plan.program(0) == Program{signal(1)});
    CHECK(plan.program(2) == Program{await(1)});
}

TEST_CASE("a plan written out keeps its words when copied and when the original is gone") {
    auto original = std::make_unique<Plan>("pair", std::vector<Program>{{signal(1), await(1)}, {signal(0), await(0)}});
    const Plan copy = *original;
    original.reset();
    CHECK(copy.ranks() == 2);
    CHECK(copy.program(1) == Program{signal(0), await(0)});
}

TEST_CASE("a plan of no ranks is refused") {
    const auto nobody = [](Rank) { return Program{}; };
    CHECK(refusal([&] { Plan("none", 0, nobody); }) == "a plan has 1 to 16777216 ranks, not 0");
    CHECK(refusal([&] { Plan("none", std::vector<Program>{}); }) == "a plan has 1 to 16777216 ranks, not 0");
}

TEST_CASE("a plan has at most max_ranks ranks") {
    const auto nobody = [](Rank) { return Program{}; };
    CHECK(refusal([&] { Plan("all", max_ranks, nobody); }) == "accepted");
    CHECK(refusal([&] { Plan("more", max_ranks + 1, nobody); }) == "a plan has 1 to 16777216 ranks, not 16777217");
}

TEST_CASE("a rank that the plan does not have is refused by its number") {
    const Plan plan("single", std::vector<Program>{{}});
    CHECK(refusal([&] { (void)plan.program(1); }) == "rank 1 is not one of 0..0");
}

TEST_CASE("steps are equal when kind and peer are") {
    CHECK(signal(3) == signal(3));
    CHECK(signal(3) != await(3));
    CHECK(signal(3) != signal(4));
}
