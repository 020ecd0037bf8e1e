// SPDX-License-Identifier: Apache-2.0
// Programs that know nothing of tollbar keep their barriers' promises with the preload, and with glibc alone.
#include "child.hpp"
#include "temporary.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using tollbar::testing::Outcome;
using tollbar::testing::program;

namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

Outcome preloaded(std::vector<std::string> command, Variables variables = {}) {
    variables.emplace_back("LD_PRELOAD", TOLLBAR_DOOR);
    return tollbar::testing::run(std::move(command), variables);
}

void keeps(const std::string& promise) {
    const Outcome stock = tollbar::testing::run(program(TOLLBAR_PROMISES, {promise}));
    CHECK_MESSAGE(stock.said == "done\n", stock.said);
    CHECK(stock.succeeded());
    for (const char* wait : {"auto", "yield", "park"}) {
        const Outcome ours = preloaded(program(TOLLBAR_PROMISES, {promise}), {{"TOLLBAR_WAIT", wait}});
        CHECK_MESSAGE(ours.said == "done\n", wait, ": ", ours.said);
        CHECK(ours.succeeded());
    }
}

}  // namespace

TEST_CASE("counts that cannot be are refused as glibc refuses them, and one thread is always the serial one") {
    keeps("alone");
}

TEST_CASE("processes meet in anonymous memory") { keeps("processes"); }

TEST_CASE("processes meet in a file") { keeps("file"); }

TEST_CASE("a staircase of barriers lets nobody through early, and each phase has one serial thread") {
    keeps("stairs");
}

TEST_CASE("the serial thread may destroy, overwrite and make a barrier anew while others leave") { keeps("destroyed"); }

TEST_CASE("nobody leaves before everybody has paid") { keeps("toll"); }

TEST_CASE("a wait is no cancellation point") {
    keeps("cancelled");
    const tollbar::testing::TemporaryFolder folder;
    const Outcome late = preloaded(program(TOLLBAR_PROMISES, {"cancelled"}),
                                   {{"TOLLBAR_TIMEOUT", "0.05"}, {"TOLLBAR_REPORT", folder.path() + "/report"}});
    CHECK_MESSAGE(late.said == "done\n", late.said);
}

TEST_CASE("threads may wait in the destructors of their keys") { keeps("destructors"); }

TEST_CASE("a thread that waits longer than TOLLBAR_TIMEOUT names who has come, and where it waits") {
    const tollbar::testing::TemporaryFolder folder;
    const std::string file = folder.path() + "/report";
    const Outcome late = preloaded(program(TOLLBAR_BEYOND, {"late", file}),
                                   {{"TOLLBAR_TIMEOUT", "0.05"}, {"TOLLBAR_REPORT", file}});
    CHECK_MESSAGE(late.said == "done\n", late.said);
    std::stringstream all;
    all << std::ifstream(file).rdbuf();
    const std::size_t place = all.str().find("pthread_barrier_wait of process ");
    REQUIRE(place != std::string::npos);
    const auto is_there = [&](const char* text) { return all.str().find(text, place) != std::string::npos; };
    CHECK((is_there(TOLLBAR_BEYOND "+0x") || is_there(" (beyond.c:")));  // with debug information
}

TEST_CASE("a barrier that glibc made before the door was opened stays glibc's") {
    const Outcome opened = tollbar::testing::run(program(TOLLBAR_BEYOND, {"opened", TOLLBAR_DOOR}));
    CHECK_MESSAGE(opened.said == "done\n", opened.said);
}

TEST_CASE("a child may destroy a barrier at which threads of its parent wait") {
    const Outcome forked = preloaded(program(TOLLBAR_BEYOND, {"forked"}));
    CHECK_MESSAGE(forked.said == "done\n", forked.said);
}

TEST_CASE("glibc is said to run a process-shared barrier that other programs could map") {
    const char* line = "tollbar: a process-shared pthread barrier that is not in anonymous memory is glibc's\n";
    CHECK(preloaded(program(TOLLBAR_PROMISES, {"file"}), {{"TOLLBAR_VERBOSE", "1"}}).times_said(line) == 1);
    CHECK(preloaded(program(TOLLBAR_PROMISES, {"processes"}), {{"TOLLBAR_VERBOSE", "1"}}).times_said(line) == 0);
}

TEST_CASE("a program without barriers is left alone") {
    if (*TOLLBAR_EMULATOR != '\0') return;  // echo is of the machine that emulates
    const Outcome echo = preloaded({"/bin/echo", "hello"});
    CHECK(echo.said == "hello\n");
    CHECK(echo.succeeded());
}
