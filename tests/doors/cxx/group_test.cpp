// SPDX-License-Identifier: Apache-2.0
// A group runs what its options, the environment and the tuning file say, in this order; what they say wrongly is
// named once.
#include "tuner/tuning.hpp"

#include <tollbar/detail/cpus.hpp>
#include <tollbar/participant.hpp>

#include "child.hpp"
#include "refusal.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
using Variables = std::vector<std::pair<std::string, std::string>>;

namespace {

/// What a program of `ranks` ranks says when it runs with these variables and no tuning file (unless named there).
testing::Outcome probe(Rank ranks, Variables variables) {
    variables.insert(variables.begin(), {{"TOLLBAR_TUNING", "/nowhere"}, {"TOLLBAR_PLAN", ""}, {"TOLLBAR_WAIT", ""}});
    return testing::run(testing::program(TOLLBAR_PROBE, {std::to_string(ranks)}), variables);
}

/// What is on stderr of a program of 2 ranks, of which one waits for the other until `text` stands in `file`; that is
/// where stderr goes unless it is named.
std::string waiting_probe(Variables variables, const std::string& text, std::string file = "") {
    const std::string lines = "/tmp/tollbar-stderr-" + std::to_string(getpid());
    if (file.empty()) file = lines;
    variables.insert(variables.begin(),
                     {{"TOLLBAR_TUNING", "/nowhere"}, {"TOLLBAR_PLAN", "mcs"}, {"TOLLBAR_WAIT", ""}});
    std::vector<std::string> command = testing::program(TOLLBAR_PROBE, {"2", file, text});
    command.insert(command.begin(), {"/bin/sh", "-c", "exec \"$@\" 2>" + lines, "sh"});
    const auto outcome = testing::run(command, variables);
    CHECK(outcome.said == "plan mcs\nplan mcs\n");
    std::stringstream said;
    said << std::ifstream(lines).rdbuf();
    std::remove(lines.c_str());
    return said.str();
}

/// A tuning file whose lines for 3 ranks name that plan, in every situation of this machine.
class TuningFile {
public:
    explicit TuningFile(const std::string& plan) {
        std::ofstream file(path_);
        file << "tollbar-tuning 1\n";
        for (const char* pinned : {"yes", "no"})
            file << "threads ranks=3 cpus=" << usable_cpus() << " pinned=" << pinned << " plan=" << plan
                 << " wait=auto\n";
    }
    ~TuningFile() { std::remove(path_.c_str()); }
    TuningFile(const TuningFile&) = delete;
    TuningFile& operator=(const TuningFile&) = delete;

    const std::string& path() const { return path_; }

private:
    std::string path_ = "/tmp/tollbar-group-test-" + std::to_string(getpid());
};

std::string refusal_of(Rank ranks, const group_options& options) {
    return refusal([&] { group{ranks, options}; });
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("a group runs the plan of its options as spelled") {
    for (const char* plan :
         {"mcs:4,2", "dissemination", "turnstile", "combination:2", "combination:3/central", "central@2/mcs"}) {
        const group made(5, {.plan = plan});
        CHECK(made.plan() == plan);
        CHECK(made.ranks() == 5);
    }
}

TEST_CASE("without any wish a group runs the default for its situation") {
    const auto outcome = probe(3, {});
    const bool pinned = affinity().count() == 1;
    const Choice expected = default_choice({.ranks = 3, .cpus = usable_cpus(), .pinned = pinned});
    CHECK(outcome.said == "plan " + expected.plan + "\nplan " + expected.plan + "\n");
}

TEST_CASE("TOLLBAR_PLAN names the plan of a group that does not say") {
    CHECK(probe(3, {{"TOLLBAR_PLAN", "mcs"}}).said == "plan mcs\nplan mcs\n");
    CHECK(probe(3, {{"TOLLBAR_PLAN", "combination:2"}}).said == "plan combination:2\nplan combination:2\n");
}

TEST_CASE("a TOLLBAR_PLAN that cannot be run is named once with what is accepted, then one is chosen") {
    for (const char* plan : {"fastest", "mcs:0", "combination:0", "combination:x"}) {
        CAPTURE(plan);
        const auto outcome = probe(3, {{"TOLLBAR_PLAN", plan}});
        CAPTURE(outcome.said);
        CHECK(outcome.succeeded());
        CHECK(outcome.times_said("tollbar: TOLLBAR_PLAN is '" + std::string(plan) + "': ") == 1);
        CHECK(outcome.times_said("\n") == 3);
    }
    const auto unknown = probe(3, {{"TOLLBAR_PLAN", "fastest"}});
    for (const char* accepted : {"fastest", "dissemination", "mcs", "turnstile", "combination"})
        CHECK(unknown.times_said(accepted) >= 1);
}

TEST_CASE("an unknown TOLLBAR_WAIT is named once with what is accepted") {
    const auto outcome = probe(3, {{"TOLLBAR_WAIT", "never"}});
    CHECK(outcome.succeeded());
    CHECK(outcome.times_said(
              "tollbar: TOLLBAR_WAIT is 'never'; accepted: auto, spin, yield, park; using the default, auto\n") == 1);
    CHECK(outcome.times_said("\n") == 3);
    for (const char* known : {"auto", "spin", "yield", "park"})
        CHECK(probe(3, {{"TOLLBAR_WAIT", known}}).times_said("\n") == 2);
}

TEST_CASE("an unknown TOLLBAR_TIMEOUT or TOLLBAR_VERBOSE is named once with what is accepted") {
    const std::string loud = "tollbar: TOLLBAR_VERBOSE is 'loud'; accepted: 0, 1, 2; using the default, 0\n";
    const std::string late =
        "tollbar: TOLLBAR_TIMEOUT is 'abc'; accepted: seconds, 0 or more (0: never); using the default, 0\n";
    CHECK(waiting_probe({{"TOLLBAR_TIMEOUT", "abc"}, {"TOLLBAR_VERBOSE", "loud"}}, "TIMEOUT") == loud + late);
    const auto plain = probe(3, {});
    for (const char* name : {"TOLLBAR_TIMEOUT", "TOLLBAR_VERBOSE", "TOLLBAR_REPORT"})
        CHECK(probe(3, {{name, ""}}).said == plain.said);
}

TEST_CASE("with TOLLBAR_VERBOSE a group says what it runs, without it or with 0 it does not") {
    for (const char* loud : {"1", "2"})
        CHECK(probe(3, {{"TOLLBAR_VERBOSE", loud}, {"TOLLBAR_PLAN", "mcs"}})
                  .times_said("tollbar: the group (3 ranks): mcs\n") == 2);
    CHECK(probe(3, {{"TOLLBAR_VERBOSE", "0"}, {"TOLLBAR_PLAN", "mcs"}}).times_said("tollbar: ") == 0);
}

TEST_CASE("who is missing is reported on stderr, or where TOLLBAR_REPORT says") {
    for (const char* stderr_too : {"", "-"}) {
        const std::string said = waiting_probe({{"TOLLBAR_TIMEOUT", "0.02"}, {"TOLLBAR_REPORT", stderr_too}}, "1 has");
        const char* line = "tollbar: the group (2 ranks, mcs), episode 1: rank 0 has waited %lf s: rank 1 has %n";
        double waited_s = -1;
        int matched = 0;
        std::sscanf(said.c_str(), line, &waited_s, &matched);
        CHECK_MESSAGE(matched > 0, said);
        CHECK(waited_s >= 0.0);
    }
    const std::string file = "/tmp/tollbar-report-" + std::to_string(getpid());
    CHECK(waiting_probe({{"TOLLBAR_TIMEOUT", "0.02"}, {"TOLLBAR_REPORT", file}}, "1 has", file).empty());
    std::remove(file.c_str());
}

TEST_CASE("what was tuned for the situation is taken, unless TOLLBAR_PLAN says otherwise") {
    const TuningFile file("tournament");
    CHECK(probe(3, {{"TOLLBAR_TUNING", file.path()}}).said == "plan tournament\nplan tournament\n");
    CHECK(probe(3, {{"TOLLBAR_TUNING", file.path()}, {"TOLLBAR_PLAN", "bst"}}).said == "plan bst\nplan bst\n");
    CHECK_FALSE(probe(4, {{"TOLLBAR_TUNING", file.path()}}).times_said("tournament"));
}

TEST_CASE("a group of threads that are not pinned takes no combination from an old file") {
    if (affinity().count() == 1) return;
    const TuningFile file("combination");
    CHECK(probe(3, {{"TOLLBAR_TUNING", file.path()}}).said == probe(3, {}).said);
}

TEST_CASE("a tuned plan that cannot be run is named once, then one is chosen") {
    for (const char* plan : {"fastest", "mcs:0"}) {
        const TuningFile file(plan);
        const auto outcome = probe(3, {{"TOLLBAR_TUNING", file.path()}});
        CAPTURE(outcome.said);
        CHECK(outcome.succeeded());
        CHECK(outcome.times_said("tollbar: " + file.path() + ": ") == 1);
        CHECK(outcome.times_said("\nplan ") == 2);
        CHECK(outcome.times_said("\n") == 3);
    }
}

TEST_CASE("a group of no ranks, or of too many, is refused with what is accepted") {
    CHECK(refusal_of(0, {.plan = "mcs"}) == "a plan has 1 to 16777216 ranks, not 0");
    CHECK(refusal_of(max_ranks + 1, {.plan = "turnstile"}) == "a plan has 1 to 16777216 ranks, not 16777217");
}

TEST_CASE("an option that cannot be run is refused with what is accepted") {
    const std::string unknown = refusal_of(4, {.plan = "fastest"});
    for (const char* part : {"fastest", "dissemination", "turnstile", "combination"}) CHECK(says(unknown, part));
    CHECK(says(refusal_of(4, {.plan = "mcs:0"}), "mcs:0"));
    CHECK(says(refusal_of(4, {.plan = "combination:0"}), "a number of processors P"));
    for (const char* elsewhere : {"switch", "card:gather", "card:mcs", "counter", "turnstile@2/switch"})
        CHECK(says(refusal_of(4, {.plan = elsewhere}), "' runs on "));
    CHECK(refusal_of(4, {.plan = std::string(1000, 'x')}).size() > 1000);
}

TEST_CASE("a rank can be joined once at a time, and only if it exists") {
    group pair(2, {.plan = "turnstile"});
    {
        const participant first = pair.join(0);
        CHECK_THROWS_WITH_AS(pair.join(0), doctest::Contains(("process " + std::to_string(getpid())).c_str()),
                             std::invalid_argument);
        CHECK_THROWS_WITH_AS(pair.join(2), doctest::Contains("ranks 0..1, no rank 2"), std::invalid_argument);
    }
    CHECK(pair.join(0).rank() == 0);  // given up above
}

TEST_CASE("a child after fork joins a group of its own while threads of its parent join others") {
    std::atomic<bool> over = false;
    std::vector<std::jthread> busy;
    for (int thread = 0; thread < 2; ++thread)
        busy.emplace_back([&] {
            group alone(1);
            while (!over) const participant self = alone.join(0);
        });
    int hung = 0;
    for (int i = 0; i < 150; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(20);  // a child that waited would be ended
            group alone(1);
            alone.join(0).arrive_and_wait();
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status)) ++hung;
    }
    over = true;
    CHECK(hung == 0);
}
