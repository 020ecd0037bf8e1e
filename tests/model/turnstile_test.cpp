// SPDX-License-Identifier: Apache-2.0
// The Turnstile under the model checker: with and without a closing step, with leavers, in every way of waiting.
#include <doctest/doctest.h>

#include "bystander_scenario.hpp"
#include "reset_barrier.hpp"
#include "turnstile_scenario.hpp"

#include <string>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::model;

namespace {

constexpr Effort broad{Search::random, 6'000};

/// Checks both kinds of Turnstile, for 2 to 4 threads and 3 phases: settings but for the threads.
void both_kinds_hold(const std::string& way, TurnstileSettings settings) {
    settings.phases = 3;
    for (unsigned threads = 2; threads <= max_threads; ++threads) {
        settings.threads = threads;
        const std::string title = std::to_string(threads) + " threads, " + way;
        CHECK(finds(Finding::clean, "turnstile, " + title, threads, make<Closing::none>(settings), broad));
        CHECK(finds(Finding::clean, "turnstile with a closing step, " + title, threads, make<Closing::step>(settings),
                    broad));
    }
}

}  // namespace

TEST_CASE("a turnstile is a barrier, and its closing step sees everybody") {
    both_kinds_hold("spinning", {.budget = spinning});
    both_kinds_hold("yielding", {.budget = yielding});
    both_kinds_hold("polling", {.poll = true});
}

TEST_CASE("a turnstile wakes everybody who sleeps") { both_kinds_hold("parking", {.budget = parking}); }

TEST_CASE("a turnstile's waits give up and are resumed") {
    both_kinds_hold("yielding, giving up", {.budget = yielding, .giving_up = max_threads});
    both_kinds_hold("parking, giving up", {.budget = parking, .giving_up = max_threads});
}

TEST_CASE("one thread may arrive for two") {
    both_kinds_hold("spinning, arriving for two", {.budget = spinning, .arrivals_of_first = 2});
    both_kinds_hold("parking, arriving for two", {.budget = parking, .arrivals_of_first = 2});
}

TEST_CASE("threads may leave for good, one after the other or together") {
    for (unsigned leaving = 1; leaving <= 3; ++leaving) {
        for (unsigned threads = leaving + 1; threads <= max_threads; ++threads) {
            for (const bool together : {false, true}) {
                TurnstileSettings settings{.threads = threads,
                                           .phases = 4,
                                           .budget = parking,
                                           .leaving = leaving,
                                           .leaving_together = together};
                const std::string title = std::to_string(leaving) + " of " + std::to_string(threads) +
                                          " threads leave" + (together ? " together" : " in turn");
                CHECK(finds(Finding::clean, "turnstile, " + title, threads, make<Closing::none>(settings), broad));
                CHECK(finds(Finding::clean, "turnstile with a closing step, " + title, threads,
                            make<Closing::step>(settings), broad));
            }
        }
    }
}

TEST_CASE("a turnstile wakes those who wait for a phase and arrive in none") {
    for (unsigned bystanders = 1; bystanders <= 2; ++bystanders)
        CHECK(finds(Finding::clean, "turnstile, " + std::to_string(bystanders) + " bystanders", 2 + bystanders,
                    make_bystanders(bystanders), {Search::random, 30'000}));
}

TEST_CASE("a turnstile's waits may do whatever has been learned") {
    both_kinds_hold("learning, crowded",
                    {.budget = wait_budget_for<RelacySync>(wait_policy::automatic, Occupancy::oversubscribed)});
    both_kinds_hold("learning, roomy",
                    {.budget = wait_budget_for<RelacySync>(wait_policy::automatic, Occupancy::exclusive)});
    both_kinds_hold("learning, giving up",
                    {.budget = wait_budget_for<RelacySync>(wait_policy::automatic, Occupancy::exclusive),
                     .giving_up = max_threads});
}

TEST_CASE("a turnstile that everybody leaves ends") {
    for (unsigned threads = 2; threads <= max_threads; ++threads) {
        for (const bool together : {false, true}) {
            const TurnstileSettings settings{
                .threads = threads, .phases = 4, .budget = parking, .leaving = threads, .leaving_together = together};
            const std::string title = "all " + std::to_string(threads) + " threads leave" +
                                      (together ? " together" : " in turn");
            CHECK(finds(Finding::clean, "turnstile, " + title, threads, make<Closing::none>(settings), broad));
            CHECK(finds(Finding::clean, "turnstile with a closing step, " + title, threads,
                        make<Closing::step>(settings), broad));
        }
    }
}

TEST_CASE("no interleaving of two threads that spin breaks two phases") {
    const TurnstileSettings settings{.threads = 2, .phases = 2, .budget = spinning};
    CHECK(finds(Finding::clean, "turnstile, 2 threads, 2 phases, spinning", 2, make<Closing::none>(settings),
                {Search::full}));
}

TEST_CASE("no interleaving of two threads that park breaks a phase") {
    const TurnstileSettings settings{.threads = 2, .phases = 1, .budget = parking};
    CHECK(finds(Finding::clean, "turnstile, 2 threads, 1 phase, parking", 2, make<Closing::none>(settings),
                {Search::full}));
}

TEST_CASE("no two switches between two threads that park break three phases") {
    const TurnstileSettings settings{.threads = 2, .phases = 3, .budget = parking};
    CHECK(finds(Finding::clean, "turnstile, 2 threads, 3 phases, parking, 2 switches", 2, make<Closing::none>(settings),
                {Search::bounded, 2}));
    CHECK(finds(Finding::clean, "turnstile with a closing step, 2 threads, 3 phases, parking, 2 switches", 2,
                make<Closing::step>(settings), {Search::bounded, 2}));
}

TEST_CASE("no interleaving of three threads that spin breaks a phase") {
    const TurnstileSettings settings{.threads = 3, .phases = 1, .budget = spinning};
    CHECK(finds(Finding::clean, "turnstile, 3 threads, 1 phase, spinning", 3, make<Closing::none>(settings),
                {Search::full}));
}

// All interleavings with one switch took two minutes since whoever is woken may wake others.
TEST_CASE("three threads that park get through a phase in many random interleavings") {
    const TurnstileSettings settings{.threads = 3, .phases = 1, .budget = parking};
    CHECK(finds(Finding::clean, "turnstile, 3 threads, 1 phase, parking", 3, make<Closing::none>(settings),
                {Search::random, 300'000}));
}

TEST_CASE("a counter that is reset after the release loses arrivals, one that is reset before does not") {
    for (unsigned threads = 2; threads <= max_threads; ++threads) {
        const std::string title = std::to_string(threads) + " threads";
        CHECK(finds(Finding::clean, "reset before release, " + title, threads,
                    reset_barrier<Reset::before_release>(threads), broad));
        CHECK(finds(Finding::stuck, "mutant: reset after release, " + title, threads,
                    reset_barrier<Reset::after_release>(threads), broad));
    }
}
