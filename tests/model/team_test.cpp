// SPDX-License-Identifier: Apache-2.0
// The word of an OpenMP team under the model checker: with tasks at any barrier nobody leaves early, nobody is left
// behind, and all go to the runtime at the same barrier.
#include <doctest/doctest.h>

#include "team_scenario.hpp"
#include "turnstile_scenario.hpp"

#include <string>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::model;

namespace {

void holds(const TeamSettings& settings, Effort effort) {
    const std::string title = std::string(settings.leaves ? "team at leaves, " : "team, ") +
                              std::to_string(settings.threads) + " threads, " + std::to_string(settings.barriers) +
                              " barriers" + (settings.helped ? ", helped" : "");
    CHECK(finds(Finding::clean, title, settings.threads, make(settings), effort));
}

}  // namespace

TEST_CASE("a team leaves no barrier early, whoever makes a task before whichever") {
    for (unsigned threads = 2; threads <= max_threads; ++threads)
        for (const WaitBudget budget : {spinning, yielding, parking})
            for (const bool leaves : {false, true})
                holds({.threads = threads, .barriers = 3, .budget = budget, .leaves = leaves},
                      {Search::random, 20'000});
}

TEST_CASE("threads that sleep at a team's barrier run the first task before its maker arrives") {
    for (unsigned threads = 2; threads <= max_threads; ++threads)
        for (const bool leaves : {false, true})
            holds({.threads = threads, .barriers = 2, .budget = parking, .leaves = leaves, .helped = true},
                  {Search::random, 20'000});
}

TEST_CASE("no interleaving of two threads with few switches leaves a sleeper to the first task's maker") {
    holds({.threads = 2, .barriers = 1, .budget = parking, .helped = true}, {Search::bounded, 2});
}
