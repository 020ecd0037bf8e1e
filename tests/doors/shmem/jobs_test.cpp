// SPDX-License-Identifier: Apache-2.0
// Whole jobs, seen from outside: how they end, what they say, and what they do when the transport is deaf.
#include "child.hpp"
#include "temporary.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

using namespace tollbar::testing;

namespace {

using Words = std::vector<std::string>;
using Variables = std::vector<std::pair<std::string, std::string>>;

/// Runs `words` on so many PEs.
Outcome job(int pes, const Words& words, const Variables& variables = {}) {
    Words command{TOLLBAR_TESTS_DIR "/transports/shmem/start"};
    std::istringstream launch(TOLLBAR_LAUNCH);
    for (std::string word; launch >> word;) command.push_back(word);
    command.insert(command.end(), {"-np", std::to_string(pes)});
    command.insert(command.end(), words.begin(), words.end());
    return run(command, variables);
}

const Variables over_tcp{{"UCX_TLS", "tcp,self"}};

/// A shell that stays when its program was killed, so that the launcher notices nothing, and goes with the launcher.
Words unnoticed(const Words& program) {
    Words words{"/bin/sh", "-c", "\"$@\" || while [ -d /proc/$PPID ]; do sleep 0.1; done", "sh"};
    words.insert(words.end(), program.begin(), program.end());
    return words;
}

}  // namespace

TEST_CASE("every job exits cleanly, without a flag") {
    // TOLLBAR_SHMEM_EXITS=100 for a hundred of each.
    const char* wanted = std::getenv("TOLLBAR_SHMEM_EXITS");
    const int runs = wanted == nullptr ? 1 : std::atoi(wanted);
    for (int i = 0; i < runs; ++i)
        for (const int pes : {2, 4, 8}) {
            const Outcome outcome = job(pes, {TOLLBAR_LOOP, "10", ""});
            CHECK_MESSAGE(outcome.succeeded(), outcome.said);
        }
}

TEST_CASE("a killed PE is named by the others when their time is over, whatever they run") {
    const Outcome outcome = job(3, unnoticed({TOLLBAR_LOOP, "5", "", "die"}));
    CAPTURE(outcome.said);
    for (const char* plan : {"dissemination:2", "counter", "mcs"})
        for (const char* waiting : {"PE 0, ", "PE 1, "})
            CHECK(outcome.times_said(std::string(waiting) + plan + ": PE 2 (process ") == 1);
    CHECK(outcome.times_said(") is dead") == 6);
}

TEST_CASE("with a time limit set the missing are named while everybody waits") {
    const Outcome outcome = job(3, {TOLLBAR_LOOP, "5", "", "late", "1"}, {{"TOLLBAR_TIMEOUT", "0.2"}});
    CAPTURE(outcome.said);
    CHECK(outcome.succeeded());
    for (const char* waiting : {"episode 5: PE 0 has waited", "episode 5: PE 1 has waited"})
        CHECK(outcome.times_said(waiting) >= 1);
    CHECK(outcome.times_said("s: PE 2 (process ") >= 2);
}

TEST_CASE("a program that ends inside an episode is told") {
    const Outcome outcome = job(2, {TOLLBAR_LOOP, "3", "dissemination", "leave"}, {{"TOLLBAR_WAIT", "yield"}});
    CHECK_MESSAGE(outcome.times_said("tollbar: PE 1 has ended inside episode 3 of a barrier") == 1, outcome.said);
}

TEST_CASE("the environment's plan is taken, and a wrong one reported once") {
    const Outcome right = job(3, {TOLLBAR_LOOP, "5", ""}, {{"TOLLBAR_PLAN", "mcs"}, {"TOLLBAR_WAIT", "park"}});
    CHECK_MESSAGE(right.times_said("5 episodes of mcs") == 1, right.said);
    const Outcome wrong = job(2, {TOLLBAR_LOOP, "5", ""}, {{"TOLLBAR_PLAN", "mcx"}});
    CHECK_MESSAGE(wrong.times_said("tollbar: TOLLBAR_PLAN is 'mcx': ") == 1, wrong.said);
    CHECK_MESSAGE(wrong.times_said("5 episodes of dissemination:1") == 1, wrong.said);
}

TEST_CASE(
    "good and empty values of variables go without a word, each other one has a line that names the accepted ones") {
    const Words late{TOLLBAR_LOOP, "3", "", "late", "1"};
    const Variables good{
        {"TOLLBAR_PLAN", "mcs"}, {"TOLLBAR_WAIT", "yield"}, {"TOLLBAR_TIMEOUT", "60"}, {"TOLLBAR_VERBOSE", "0"}};
    const Variables empty{{"TOLLBAR_PLAN", ""}, {"TOLLBAR_WAIT", ""}, {"TOLLBAR_TIMEOUT", ""}, {"TOLLBAR_VERBOSE", ""}};
    const Variables wrong{
        {"TOLLBAR_PLAN", "x"}, {"TOLLBAR_WAIT", "never"}, {"TOLLBAR_TIMEOUT", "abc"}, {"TOLLBAR_VERBOSE", "loud"}};
    for (const Variables& quiet : {good, empty}) {
        const Outcome outcome = job(2, late, quiet);
        CHECK_MESSAGE(outcome.times_said("tollbar: ") == 0, outcome.said);
    }
    const Outcome outcome = job(2, late, wrong);
    CAPTURE(outcome.said);
    CHECK(outcome.times_said("tollbar: ") == 4);
    CHECK(outcome.times_said("tollbar: TOLLBAR_PLAN is 'x': ") == 1);
    CHECK(outcome.times_said("WAIT is 'never'; accepted: auto, spin, yield, park; using the default, auto\n") == 1);
    CHECK(outcome.times_said("TIMEOUT is 'abc'; accepted: seconds, 0 or more (0: never); using the default, 0\n") == 1);
    CHECK(outcome.times_said("VERBOSE is 'loud'; accepted: 0, 1, 2; using the default, 0\n") == 1);
}

TEST_CASE("with TOLLBAR_VERBOSE it says what it runs, and reports go where TOLLBAR_REPORT says") {
    const TemporaryFolder folder;
    const Outcome outcome = job(2, {TOLLBAR_LOOP, "3", "", "late", "1"},
                                {{"TOLLBAR_PLAN", "mcs"},
                                 {"TOLLBAR_VERBOSE", "1"},
                                 {"TOLLBAR_TIMEOUT", "0.2"},
                                 {"TOLLBAR_REPORT", folder.path("reports")}});
    CHECK_MESSAGE(outcome.times_said("tollbar: ") == 1, outcome.said);
    CHECK_MESSAGE(outcome.times_said("tollbar: barrier of 2 PEs: mcs\n") == 1, outcome.said);
    CHECK(folder.read("reports").starts_with("tollbar: barrier of 2 PEs (mcs), episode 3: PE 0 has waited "));
}

TEST_CASE("every way of signalling has a plan of its own accord, however many PEs there are") {
    for (const char* how : {"puts", "stores", "auto"}) {
        const Outcome near = job(9, {TOLLBAR_LOOP, "5", "", how});
        CHECK_MESSAGE(near.times_said("5 episodes of counter") == 1, near.said);
    }
    const Outcome far = job(9, {TOLLBAR_LOOP, "5", "", "stores"}, over_tcp);
    CHECK_MESSAGE(far.times_said("5 episodes of dissemination") == 1, far.said);
}

TEST_CASE("over TCP episodes end because a PE that looks also answers") {
    const Outcome outcome = job(2, {TOLLBAR_LOOP, "200", ""}, over_tcp);
    CHECK_MESSAGE(outcome.times_said("200 episodes of") == 1, outcome.said);
}

TEST_CASE("a transport that does not answer while it looks hangs over TCP, so that the test above means something") {
    const Outcome deaf = job(2, {TOLLBAR_DEAF_LOOP, "200", "", "within", "2"}, over_tcp);
    CHECK_MESSAGE(deaf.times_said("episodes of") == 0, deaf.said);
    CHECK_MESSAGE(deaf.times_said("Alarm clock") >= 1, deaf.said);
}
