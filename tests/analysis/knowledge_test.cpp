// SPDX-License-Identifier: Apache-2.0
#include "analysis/knowledge.hpp"

#include <doctest/doctest.h>

#include <array>
#include <random>
#include <set>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

std::set<Rank> members(const Runs& runs) {
    std::set<Rank> ranks;
    for (const Run run : runs)
        for (Rank rank = run.begin; rank < run.end; ++rank) ranks.insert(rank);
    return ranks;
}

}  // namespace

TEST_CASE("neighbours become one run") {
    Knowledge knowledge;
    const auto both = knowledge.unite(std::array{knowledge.of(4), knowledge.of(3)});
    CHECK(knowledge.runs(both) == Runs{{3, 5}});
    const auto apart = knowledge.unite(std::array{both, knowledge.of(6)});
    CHECK(knowledge.runs(apart) == Runs{{3, 5}, {6, 7}});
    const auto closed = knowledge.unite(std::array{apart, knowledge.of(5)});
    CHECK(knowledge.runs(closed) == Runs{{3, 7}});
}

TEST_CASE("a shared set stays what it was when its other holder learns more") {
    Knowledge knowledge;
    const auto mine = knowledge.of(0);
    const auto told = knowledge.share(mine);
    const auto more = knowledge.unite(std::array{mine, knowledge.of(1)});
    CHECK(knowledge.runs(told) == Runs{{0, 1}});
    CHECK(knowledge.runs(more) == Runs{{0, 2}});
}

TEST_CASE("the union of many sets holds each member once, in ascending runs with gaps") {
    std::mt19937 random(7);
    const auto any_rank = [&random] { return static_cast<Rank>(random() % 40); };
    Knowledge knowledge;
    for (int trial = 0; trial < 300; ++trial) {
        std::vector<Knowledge::Id> parts;
        std::set<Rank> expected;
        for (std::size_t count = 1 + random() % 9; parts.size() < count;) {
            Knowledge::Id part = knowledge.of(any_rank());
            for (auto more = random() % 6; more > 0; --more)
                part = knowledge.unite(std::array{part, knowledge.of(any_rank())});
            expected.merge(members(knowledge.runs(part)));
            parts.push_back(part);
        }
        const Runs& runs = knowledge.runs(knowledge.unite(parts));
        CHECK(members(runs) == expected);
        for (std::size_t i = 1; i < runs.size(); ++i) CHECK(runs[i - 1].end < runs[i].begin);
    }
}

TEST_CASE("uniting neighbours touches a bounded number of runs for each") {
    for (const Rank ranks : {10U, 1000U, 100000U}) {
        Knowledge knowledge;
        std::vector<Knowledge::Id> parts;
        for (Rank rank = 0; rank < ranks; ++rank) parts.push_back(knowledge.of(rank));
        CHECK(knowledge.runs(knowledge.unite(parts)) == Runs{{0, ranks}});
        CHECK(knowledge.touched() <= 3 * ranks);
    }
}

TEST_CASE("sets of halving sizes are united by walking the longest once or twice") {
    Knowledge knowledge;
    std::vector<Knowledge::Id> parts;
    std::uint64_t runs = 0;
    for (Rank stride = 2, first = 0; stride <= 1024; stride *= 2) {  // every 2nd, every 4th .. rank
        std::vector<Knowledge::Id> members;
        for (Rank rank = first; rank < 4096; rank += stride) members.push_back(knowledge.of(rank));
        runs += members.size();
        first += stride / 2;
        parts.push_back(knowledge.unite(members));
    }
    const auto before = knowledge.touched();
    (void)knowledge.unite(parts);
    CHECK(knowledge.touched() - before <= 2 * runs);
}
