// SPDX-License-Identifier: Apache-2.0
// Gates under the model checker: destroyed by the serial thread while others leave, in either scope.
#include <doctest/doctest.h>

#include "gate_scenario.hpp"

#include <string>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::model;

namespace {

/// For 2 to 4 threads, in both scopes and at leaves.
void hold(const std::string& way, WaitBudget budget) {
    for (unsigned threads = 2; threads <= max_threads; ++threads)
        for (const bool first_destroys : {false, true}) {
            const GateSettings settings{
                .threads = threads, .phases = 2, .budget = budget, .first_destroys = first_destroys};
            const std::string title = std::to_string(threads) + " threads, " + way +
                                      (first_destroys ? ", destroyed by the first" : ", destroyed by the last");
            const Effort effort{Search::random, 4'000};
            CHECK(finds(Finding::clean, "gate, " + title, threads, make_gates<Scope::process>(settings), effort));
            CHECK(finds(Finding::clean, "shared gate, " + title, threads, make_gates<Scope::shared>(settings), effort));
            CHECK(finds(Finding::clean, "gate at leaves, " + title, threads, make_gates_at_leaves(settings), effort));
        }
}

}  // namespace

TEST_CASE("a gate is a barrier, and nobody looks at it once it is cleared") {
    hold("spinning", spinning);
    hold("yielding", yielding);
}

TEST_CASE("sleepers at a gate are woken before it is cleared, and have left it then") { hold("parking", parking); }

TEST_CASE("no interleaving with few switches breaks a gate") {
    const GateSettings settings{.threads = 2, .phases = 1, .budget = spinning};
    CHECK(finds(Finding::clean, "gate, 2 threads, 3 switches", 2, make_gates<Scope::process>(settings),
                {Search::bounded, 3}));
    CHECK(finds(Finding::clean, "shared gate, 2 threads, 3 switches", 2, make_gates<Scope::shared>(settings),
                {Search::bounded, 3}));
}
