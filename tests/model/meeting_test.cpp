// SPDX-License-Identifier: Apache-2.0
// Python's barrier under the model checker: passed by all, or given up, aborted or reset while some wait.
#include <doctest/doctest.h>

#include "meeting_scenario.hpp"

#include <string>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::model;

namespace {

void hold(const std::string& way, MeetingSettings settings) {
    for (settings.threads = 2; settings.threads <= max_threads; ++settings.threads)
        for (settings.acts = false;; settings.acts = true) {
            const std::string title = "Python's, " + std::to_string(settings.threads) + " threads, " + way +
                                      (settings.acts ? ", with an action" : "");
            CHECK(finds(Finding::clean, title, settings.threads, make_meetings(settings), {Search::random, 4'000}));
            if (settings.acts) break;
        }
}

}  // namespace

TEST_CASE("Python's barrier is a barrier, and its action is done when anybody passes") {
    hold("spinning", {.budget = spinning});
    hold("parking", {.budget = parking});
}

TEST_CASE("nobody passes a phase that was given up, and nobody is stuck in it") {
    hold("one gives up, yielding", {.budget = yielding, .breaking = Breaking::gives_up});
    hold("one gives up, parking", {.budget = parking, .breaking = Breaking::gives_up});
}

TEST_CASE("who waits is let go by an abort and by a reset") {
    hold("aborted, parking", {.budget = parking, .breaking = Breaking::aborts});
    hold("reset, parking", {.phases = 1, .budget = parking, .breaking = Breaking::resets});
}
