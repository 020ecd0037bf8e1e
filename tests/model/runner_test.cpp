// SPDX-License-Identifier: Apache-2.0
// Every plan of the catalogue under the model checker, in every way of waiting.
#include <doctest/doctest.h>

#include "runner_scenario.hpp"

#include <tollbar/algorithms.hpp>

#include <string>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::model;

namespace {

constexpr Effort broad{Search::random, 5'000};
constexpr Waking nobody_sleeps{.scope = Scope::process, .parks = false, .asymmetric = false};

const std::vector<std::string> spellings{"central",           "combining:2", "combining:4",   "fway_tournament:2",
                                         "fway_tournament:4", "mcs",         "tournament",    "bst",
                                         "butterfly",         "pairwise",    "dissemination", "dissemination:2"};

/// Checks all plans for 2 to 4 ranks and 3 episodes: settings but for the layout.
void all_plans_hold(const std::string& way, RunnerSettings settings) {
    settings.episodes = 3;
    for (const std::string& spelling : spellings) {
        for (Rank ranks = 2; ranks <= max_threads; ++ranks) {
            settings.layout = lay_out(make_plan(spelling, ranks));
            CHECK(finds(Finding::clean, spelling + ", " + std::to_string(ranks) + " ranks, " + way, ranks,
                        make(settings), broad));
        }
    }
    settings.layout = lay_out(make_plan("central@2/dissemination", 4));
    CHECK(finds(Finding::clean, "central@2/dissemination, 4 ranks, " + way, 4, make(settings), broad));
}

}  // namespace

TEST_CASE("every plan is a barrier when its ranks spin") {
    all_plans_hold("spinning", {.layout = {}, .policy = wait_policy::spin, .waking = nobody_sleeps});
}

TEST_CASE("every plan is a barrier when its ranks yield") {
    all_plans_hold("yielding", {.layout = {}, .policy = wait_policy::yield, .waking = nobody_sleeps});
}

TEST_CASE("every plan is a barrier when its ranks poll") {
    all_plans_hold("polling",
                   {.layout = {}, .policy = wait_policy::spin, .waking = nobody_sleeps, .walk = Walk::advance});
}

TEST_CASE("every plan is a barrier when its ranks yield a few times and then sleep") {
    all_plans_hold("automatic", {.layout = {}, .policy = wait_policy::automatic, .waking = full_fences});
}

TEST_CASE("every plan is a barrier, and wakes everybody, when its ranks sleep at once") {
    all_plans_hold("parking, full fences", {.layout = {}, .policy = wait_policy::park, .waking = full_fences});
    all_plans_hold("parking, asymmetric fences",
                   {.layout = {}, .policy = wait_policy::park, .waking = asymmetric_fences});
}

TEST_CASE("every plan is a barrier when waits give up and are resumed") {
    for (const wait_policy policy : {wait_policy::yield, wait_policy::park}) {
        Waits waits;
        const std::string way = policy == wait_policy::yield ? "yielding, giving up" : "parking, giving up";
        all_plans_hold(
            way, {.layout = {}, .policy = policy, .waking = asymmetric_fences, .walk = Walk::give_up, .waits = &waits});
        CHECK(waits.in_time > 0);
        CHECK(waits.gave_up > 0);
    }
}

TEST_CASE("one word for all ranks is a barrier in every way of waiting") {
    for (Rank ranks = 2; ranks <= max_threads; ++ranks) {
        Waits waits;
        RunnerSettings settings{.layout = lay_out(make_plan("turnstile", ranks)), .episodes = 3, .waits = &waits};
        const std::string title = "one word, " + std::to_string(ranks) + " ranks, ";
        CHECK(finds(Finding::clean, title + "spinning", ranks, make(settings), broad));
        settings.waking = full_fences;
        settings.policy = wait_policy::park;
        CHECK(finds(Finding::clean, title + "parking", ranks, make(settings), broad));
        settings.walk = Walk::give_up;
        CHECK(finds(Finding::clean, title + "parking, giving up", ranks, make(settings), broad));
        CHECK(waits.in_time > 0);
        CHECK(waits.gave_up > 0);
    }
}

TEST_CASE("the combination barrier of two processors is a barrier in every way of waiting") {
    for (Rank ranks = 2; ranks <= max_threads; ++ranks) {
        Waits waits;
        RunnerSettings settings{.layout = lay_out(make_plan("combination:2", ranks)), .episodes = 3, .waits = &waits};
        const std::string title = "combination, " + std::to_string(ranks) + " ranks, ";
        for (const wait_policy policy :
             {wait_policy::spin, wait_policy::yield, wait_policy::automatic, wait_policy::park}) {
            settings.policy = policy;
            for (const Waking waking : {full_fences, asymmetric_fences}) {
                settings.waking = waking;
                const std::string way = "policy " + std::to_string(static_cast<int>(policy)) +
                                        (waking.asymmetric ? ", asymmetric fences" : ", full fences");
                CHECK(finds(Finding::clean, title + way, ranks, make(settings), broad));
            }
        }
        settings.walk = Walk::give_up;
        CHECK(finds(Finding::clean, title + "parking, giving up", ranks, make(settings), broad));
        CHECK(waits.in_time > 0);
        CHECK(waits.gave_up > 0);
    }
}

TEST_CASE("no interleaving of two ranks breaks an episode, and none with few switches breaks two") {
    RunnerSettings settings{.layout = lay_out(make_plan("dissemination", 2)), .episodes = 1, .waking = nobody_sleeps};
    CHECK(finds(Finding::clean, "dissemination, 2 ranks, 1 episode, spinning", 2, make(settings), {Search::full}));
    settings.episodes = 2;
    settings.policy = wait_policy::park;
    for (const Waking waking : {full_fences, asymmetric_fences}) {
        settings.waking = waking;
        CHECK(finds(Finding::clean, "dissemination, 2 ranks, 2 episodes, parking, 3 switches", 2, make(settings),
                    {Search::bounded, 3}));
    }
    settings = {.layout = {}, .episodes = 1, .waking = nobody_sleeps};
    for (const std::string spelling : {"central", "dissemination"}) {
        settings.layout = lay_out(make_plan(spelling, 3));
        CHECK(finds(Finding::clean, spelling + ", 3 ranks, 1 episode, spinning, 2 switches", 3, make(settings),
                    {Search::bounded, 2}));
    }
}
