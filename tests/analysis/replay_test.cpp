// SPDX-License-Identifier: Apache-2.0
#include "analysis/replay.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

/// Checks the promise of a replay step by step and counts what it saw.
struct Witness {
    explicit Witness(const Matching& matched)
        : matching(matched), next(matched.first.begin(), matched.first.end() - 1) {}

    void signal(Rank self, Index step) {
        CHECK(step == next[self]++);
        sent.insert(matching.message[step]);
    }

    void await_set(Rank self, Index begin, Index end) {
        CHECK(begin == next[self]);
        CHECK(end == matching.set_end(begin, self));
        next[self] = end;
        for (Index step = begin; step < end; ++step) CHECK(sent.contains(matching.message[step]));
    }

    std::size_t finished() const {
        std::size_t members = 0;
        for (Rank self = 0; self < matching.members; ++self) members += next[self] == matching.first[self + 1] ? 1 : 0;
        return members;
    }

    const Matching& matching;
    std::vector<Index> next;
    std::set<Index> sent;
};

std::optional<Stuck> stuck_pair(std::string_view words) {
    const Matching matching = match(parse_plan("written", words));
    REQUIRE(matching.fault.holds());
    Witness witness(matching);
    return replay(matching, witness);
}

}  // namespace

TEST_CASE("a replay visits all steps in program order, each await set after its signals") {
    for (const Algorithm& algorithm : catalogue())
        for (const Rank ranks : {1U, 2U, 3U, 8U, 13U, 64U, 100U}) {
            const Matching matching = match(make_plan(algorithm.name, ranks));
            Witness witness(matching);
            CHECK_FALSE(replay(matching, witness).has_value());
            CHECK(witness.finished() == matching.members);
        }
}

TEST_CASE("ranks that wait for each other are reported as the first stuck pair") {
    const auto two = stuck_pair("0: ?1 !1\n1: ?0 !0");
    REQUIRE(two);
    CHECK(two->to == 0);
    CHECK(two->from == 1);

    const auto behind = stuck_pair("0: !1 ?3\n1: ?0\n2: ?3 !3\n3: ?2 !2 !0");
    REQUIRE(behind);
    CHECK(behind->to == 0);
    CHECK(behind->from == 3);
}

TEST_CASE("of a set the lowest sender that cannot get so far is reported, whatever the order of the words") {
    const auto set = stuck_pair("0: ?3 ?2 ?1 !1 !2 !3\n1: !0 ?0\n2: ?0 !0\n3: ?0 !0");
    REQUIRE(set);
    CHECK(set->to == 0);
    CHECK(set->from == 2);
}
