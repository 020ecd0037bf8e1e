// SPDX-License-Identifier: Apache-2.0
// Mutants that need no other source: a machine or a plan with one thing missing. Each must be caught; the program
// model_original runs the originals in the same situations.
#include <doctest/doctest.h>

#include "situations.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::model;

namespace {

struct Case {
    std::string mutant;
    std::string situation;
    Weakening weakening;
    Finding finding;
};

/// The program of every rank without its last round.
Plan a_round_short(const Plan& plan, std::size_t steps_of_a_round) {
    std::vector<Program> programs;
    for (Rank self = 0; self < plan.ranks(); ++self) {
        Program program = plan.program(self);
        program.resize(program.size() - steps_of_a_round);
        programs.push_back(std::move(program));
    }
    return {"a round short", std::move(programs)};
}

/// A combination barrier in which the last to arrive on a processor releases the others before it has been among
/// the processors.
Layout gate_released_first(Layout layout) {
    for (std::size_t rank = 0; rank + 1 < layout.first.size(); ++rank) {
        const auto begin = layout.steps.begin() + layout.first[rank];
        const auto release = layout.steps.begin() + layout.first[rank + 1] - 2;
        std::rotate(begin + 1, release, release + 1);
    }
    return layout;
}

}  // namespace

TEST_CASE("a weaker memory order or a missing fence is caught") {
    const std::vector<Case> cases{
        {"signal: release -> relaxed", "spinning", {.store_release = true}, Finding::unpaid},
        {"await: acquire -> relaxed", "spinning", {.load_acquire = true}, Finding::unpaid},
        {"poll: acquire -> relaxed", "polling", {.load_acquire = true}, Finding::unpaid},
        {"turnstile: arrival relaxed", "turnstile_spinning", {.add_all = true}, Finding::unpaid},
        {"turnstile: arrival loses its release", "turnstile_spinning", {.add_release = true}, Finding::unpaid},
        {"turnstile: arrival loses its acquire", "turnstile_step_spinning", {.add_acquire = true}, Finding::unpaid},
        {"turnstile: reached, acquire -> relaxed", "turnstile_polling", {.load_acquire = true}, Finding::unpaid},
        {"combination: meeting relaxed", "combination_spinning", {.add_all = true}, Finding::unpaid},
        {"turnstile: arrival is no fence", "turnstile_parking", {.add_fence = true}, Finding::stuck},
        {"turnstile: closing is no fence", "turnstile_step_parking", {.add_fence = true}, Finding::stuck},
        {"turnstile: look at the sleepers relaxed", "turnstile_parking", {.look_fence = true}, Finding::stuck},
        {"one word: addition is no fence", "one_word_parking", {.add_fence = true}, Finding::stuck},
        {"parking: waker without asymmetric fence", "parking_asymmetric", {.light_fence = true}, Finding::stuck},
        {"parking: sleeper without asymmetric fence", "parking_asymmetric", {.heavy_fence = true}, Finding::stuck},
        {"parking: no full fences", "parking", {.full_fence = true}, Finding::stuck},
        {"turnstile: sleeper without fence", "turnstile_parking", {.full_fence = true}, Finding::stuck},
        {"combination: no asymmetric fences",
         "combination_parking",
         {.light_fence = true, .heavy_fence = true},
         Finding::stuck},
    };
    for (const Case& mutant : cases) {
        const Situation situation = situation_named(mutant.situation);
        CHECK(finds(mutant.finding, "mutant: " + mutant.mutant + ", " + mutant.situation, situation.threads,
                    situation.make, thorough, mutant.weakening));
    }
}

TEST_CASE("a round short is caught") {
    for (const auto& [spelling, ranks, steps] :
         {std::tuple{"dissemination", 3U, 2U}, {"dissemination", 4U, 2U}, {"butterfly", 4U, 2U}}) {
        const Plan plan = a_round_short(make_plan(spelling, ranks), steps);
        const std::string title = std::string("mutant: ") + spelling + " a round short, " + std::to_string(ranks) +
                                  " ranks";
        CHECK(finds(Finding::unpaid, title, ranks, make(RunnerSettings{.layout = lay_out(plan)}), thorough));
    }
}

TEST_CASE("a combination barrier that opens its gate before the processors have met is caught") {
    const Layout layout = lay_out(make_plan("combination:2", 4));
    CHECK(finds(Finding::unpaid, "mutant: combination, gate released first", 4,
                make(RunnerSettings{.layout = gate_released_first(layout)}), thorough));
}
