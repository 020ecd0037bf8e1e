// SPDX-License-Identifier: Apache-2.0
// What holds for every plan of the catalogue at every size: it is a barrier, and each rank's part is small.
#include <tollbar/algorithms.hpp>
#include <tollbar/verify.hpp>

#include "effort.hpp"
#include "spellings.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <set>
#include <string>

using namespace tollbar;

namespace {

template <class Check>
void for_each_plan(Check check) {
    for (const std::string spelling : every_plan) check(spelling);
}

}  // namespace

TEST_CASE("every plan of the catalogue is a barrier for 1 to 1100 ranks and for 4096") {
    for_each_plan([](const std::string& spelling) {
        CAPTURE(spelling);
        const Rank stride = tollbar::testing::effort() < 1 ? 11 : 1;
        for (Rank ranks = 1; ranks <= 1100; ranks += ranks < 260 ? 1 : stride) {
            const Verdict verdict = verify(make_plan(spelling, ranks));
            INFO(ranks << " ranks: " << verdict.explain());
            CHECK(verdict.holds());
        }
        CHECK(verify(make_plan(spelling, 4096)).holds());
    });
}

TEST_CASE("no member signals or awaits another twice") {
    for_each_plan([](const std::string& spelling) {
        CAPTURE(spelling);
        for (const Rank ranks : {2U, 3U, 17U, 64U, 100U, 333U}) {
            const Plan plan = make_plan(spelling, ranks);
            for (Rank index = 0; index < plan.members(); ++index) {
                std::set<std::pair<Step::Kind, Rank>> seen;
                for (const Step step : plan.program(plan.member_at(index)))
                    CHECK(seen.emplace(step.kind, step.peer).second);
            }
        }
    });
}

TEST_CASE("no program is longer than the logarithm of the ranks times the width of a round, but central's root") {
    for (const std::string spelling : one_level) {
        if (spelling == "central") continue;
        CAPTURE(spelling);
        constexpr Rank widest = 8;  // n of combining:8, ways plus one of dissemination:7
        for (const Rank ranks : {2U, 100U, 4096U, 65535U, max_ranks}) {
            const Plan plan = make_plan(spelling, ranks);
            const auto levels = static_cast<std::size_t>(std::bit_width(ranks));
            for (const Rank self : {0U, 1U, ranks / 2, ranks - 1})
                CHECK(plan.program(self).size() <= 2 * widest * levels);
        }
    }
}

TEST_CASE("central has a long program at its root only") {
    const Plan plan = make_plan("central", max_ranks);
    CHECK(plan.program(0).size() == 2 * std::size_t{max_ranks - 1});
    CHECK(to_text(plan.program(1)) == "!0 ?0");
    CHECK(to_text(plan.program(max_ranks - 1)) == "!0 ?0");
}

TEST_CASE("one way, two signals and two awaits a rank and doubling of the ranks") {
    for (Rank ranks = 2; ranks <= 65536; ranks *= 2)
        CHECK(make_plan("dissemination", ranks).program(ranks / 3).size() ==
              2 * static_cast<std::size_t>(std::countr_zero(ranks)));
}

TEST_CASE("the part of one rank of the largest two-level plan is as small") {
    const Plan plan = make_plan("mcs@8388608/dissemination", max_ranks);
    CHECK(plan.program(0).size() == 4 + 2 + 2);
    CHECK(plan.program(max_ranks - 1).size() == 2);
}

TEST_CASE("the part of one rank of the largest plan with roles is two steps, and a role's is that of its group") {
    const Plan leaves = make_plan("turnstile@64/dissemination", max_ranks);
    CHECK(leaves.roles() == max_ranks / 64);
    const Rank last = role(leaves.roles() - 1);
    CHECK(leaves.program(max_ranks - 1) == Program{signal(last), await(last)});
    CHECK(leaves.program(role(0)).size() == 2 * 64 + 2 * 18);
    const Plan combination = make_plan("combination:262144", max_ranks);
    CHECK(combination.program(1) == Program{signal(role(1)), await(role(1))});
    CHECK(combination.program(role(262143)).size() == 2 * 64 + 2 * 18);
}
