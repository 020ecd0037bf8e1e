// SPDX-License-Identifier: Apache-2.0
// Leaves under the model checker: two leaves of two places, whichever is near, in every way of waiting.
#include <doctest/doctest.h>

#include "turnstile_scenario.hpp"

#include <string>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::model;

namespace {

constexpr Effort broad{Search::random, 6'000};

/// For 2 to 4 threads and 3 phases: settings but for the threads.
void hold(const std::string& way, TurnstileSettings settings) {
    settings.phases = 3;
    for (unsigned threads = 2; threads <= max_threads; ++threads) {
        settings.threads = threads;
        const std::string title = "leaves, " + std::to_string(threads) + " threads, " + way;
        CHECK(finds(Finding::clean, title, threads, make_leaves(settings), broad));
    }
}

}  // namespace

TEST_CASE("leaves are a barrier, and its completion sees everybody") {
    hold("spinning", {.budget = spinning});
    hold("yielding", {.budget = yielding});
    hold("as usual where CPUs are shared", {.budget = {0, 2}});
    hold("polling", {.poll = true});
}

TEST_CASE("a release wakes those who sleep at every leaf") { hold("parking", {.budget = parking}); }

TEST_CASE("waits at leaves give up and are resumed") {
    hold("parking, giving up", {.budget = parking, .giving_up = max_threads});
}

TEST_CASE("one thread may take several places, of several leaves") {
    hold("spinning, arriving for two", {.budget = spinning, .arrivals_of_first = 2});
    hold("parking, arriving for three", {.budget = parking, .arrivals_of_first = 3});
}

TEST_CASE("threads may leave their leaves for good, one after the other or together, and all of them") {
    for (unsigned leaving = 1; leaving <= max_threads; ++leaving)
        for (unsigned threads = std::max(leaving, 2U); threads <= max_threads; ++threads)
            for (const bool together : {false, true}) {
                const TurnstileSettings settings{.threads = threads,
                                                 .phases = 4,
                                                 .budget = parking,
                                                 .leaving = leaving,
                                                 .leaving_together = together};
                const std::string title = "leaves, " + std::to_string(leaving) + " of " + std::to_string(threads) +
                                          " threads leave" + (together ? " together" : " in turn");
                CHECK(finds(Finding::clean, title, threads, make_leaves(settings), broad));
            }
}

TEST_CASE("no interleaving with few switches breaks two leaves") {
    const TurnstileSettings settings{.threads = 3, .phases = 2, .budget = spinning};
    CHECK(finds(Finding::clean, "leaves, 3 threads, 2 phases, spinning, 1 switch", 3, make_leaves(settings),
                {Search::bounded, 1}));
}
