// SPDX-License-Identifier: Apache-2.0
#include "transports/shmem/placement.hpp"

#include "refusal.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::shmem;

namespace {

using Kind = shmem::Step::Kind;

/// "signal 1.0", "await 0 by a", "meet 0/3+3": the PE, its slot, the share, what is skipped.
std::string text(const Plan& plan, Rank self) {
    std::string line;
    for (const shmem::Step& step : steps_of(plan, self)) {
        const std::string peer = member_text(step.peer), slot = std::to_string(step.slot);
        const std::string share = "/" + std::to_string(step.share), skip = "+" + std::to_string(step.skip);
        if (!line.empty()) line += ", ";
        switch (step.kind) {
            case Kind::signal: line += "signal " + peer + "." + slot; break;
            case Kind::await: line += "await " + slot + " by " + peer; break;
            case Kind::meet: line += "meet " + peer + share + skip; break;
            case Kind::flush: line += "flush" + skip; break;
            case Kind::wake: line += "wake" + share + skip; break;
            case Kind::leave: line += "leave " + peer + share; break;
        }
    }
    return line;
}

/// "!a ?a", "!b ?b", "!a ?a", "!b ?b", "a: ?0 ?2 !b ?b !0 !2", "b: ?1 ?3 !a ?a !1 !3"
const Plan combination = make_plan("combination:2", 4);

}  // namespace

TEST_CASE("a signal is sent into the slot that its receiver awaits, and each slot has one writer") {
    for (const char* name : {"dissemination", "dissemination:3", "mcs", "central", "pairwise", "tournament"})
        for (const Rank ranks : {1U, 2U, 3U, 5U, 8U, 16U}) {
            CAPTURE(name);
            CAPTURE(ranks);
            const Plan plan = make_plan(name, ranks);
            std::map<std::pair<Rank, std::uint32_t>, Rank> signalled_by, awaited_from;
            std::size_t signals = 0;
            for (Rank self = 0; self < ranks; ++self)
                for (const shmem::Step& step : steps_of(plan, self)) {
                    REQUIRE(step.slot < std::max(slots_of(plan), 1U));
                    if (step.kind == Kind::signal) ++signals, signalled_by[{step.peer, step.slot}] = self;
                    if (step.kind == Kind::await) awaited_from[{self, step.slot}] = step.peer;
                }
            CHECK(signalled_by == awaited_from);
            CHECK(signalled_by.size() == signals);
        }
}

TEST_CASE("at a counter that is the release the last one releases the others") {
    const Plan counter = make_plan("counter", 3);
    CHECK(text(counter, 0) == "meet 0/3+3, signal 1.0, signal 2.0, flush+1, await 0 by a");
    CHECK(text(counter, 2) == "meet 0/3+3, signal 0.0, signal 1.0, flush+1, await 0 by a");
    CHECK(slots_of(counter) == 1);
    CHECK(is_one_shot(steps_of(counter, 1)));
}

TEST_CASE("a role that does more than release has its slots at its first member, who plays it") {
    CHECK(text(combination, 0) == "await 2 by 2, signal 1.3, await 3 by b, signal 2.0");
    CHECK(text(combination, 2) == "signal 0.2, await 0 by a");
    CHECK(slots_of(combination) == 4);
    CHECK_FALSE(is_one_shot(steps_of(combination, 0)));
    CHECK(is_one_shot(steps_of(combination, 2)));
}

TEST_CASE("each step knows how far the rank has come in its word") {
    const Plan plan = parse_plan("odd", "?1 !1 ?2\n!0 ?0 !2\n?1 !0");
    const std::vector<shmem::Step> steps = steps_of(plan, 1);
    CHECK(steps[0].done == 0);
    CHECK(steps[1].done == 1);
    CHECK(steps[2].done == 2);
    CHECK(steps_of(combination, 3)[1].done == 1);
}

TEST_CASE("a rank that is the first member of two counters is refused") {
    const Plan two = parse_plan("two", "!a ?a !b ?b\n!a ?a !b ?b\na: ?0 ?1 !0 !1\nb: ?0 ?1 !0 !1");
    CHECK(refusal([&] { (void)slots_of(two); }) == "plan 'two': rank 0 has two counters");
}
