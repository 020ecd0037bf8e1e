// SPDX-License-Identifier: Apache-2.0
// The parking protocol alone under the model checker, as exhaustively as it goes.
#include <doctest/doctest.h>

#include "handshake_scenario.hpp"

#include <string>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::model;

namespace {

constexpr Waking full{.scope = Scope::process, .parks = true, .asymmetric = false};
constexpr Waking asymmetric{.scope = Scope::process, .parks = true, .asymmetric = true};

void wakes_everybody(unsigned threads, std::uint64_t episodes, Effort effort) {
    for (const Waking waking : {full, asymmetric}) {
        const HandshakeSettings settings{.threads = threads, .episodes = episodes, .waking = waking};
        const std::string title = "handshake, " + std::to_string(threads) + " threads, " + std::to_string(episodes) +
                                  " episodes, " + (waking.asymmetric ? "asymmetric" : "full") + " fences";
        CHECK(finds(Finding::clean, title, threads, make(settings), effort));
    }
}

}  // namespace

TEST_CASE("whoever sleeps at once is woken") {
    for (unsigned threads = 2; threads <= max_threads; ++threads) wakes_everybody(threads, 3, {Search::random, 20'000});
}

TEST_CASE("no interleaving of two threads loses a wake-up in one episode") { wakes_everybody(2, 1, {Search::full}); }

TEST_CASE("no interleaving of two threads with few switches loses a wake-up in three episodes") {
    wakes_everybody(2, 3, {Search::bounded, 3});
}
