// SPDX-License-Identifier: Apache-2.0
// One reader of the environment: what each variable accepts, what is said of other values, and where reports go.
#include "base/environment.h"
#include "base/environment.hpp"
#include "base/say.h"

#include "child.hpp"
#include "temporary.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

using namespace tollbar;
using namespace tollbar::detail;
using testing::in_child;

namespace {

using Pair = std::pair<const char*, const char*>;

/// What is said in a process of its own, with these variables and no launcher's.
template <class Action>
std::string said_with(std::initializer_list<Pair> variables, Action action) {
    const auto outcome = in_child([&] {
        for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "PMIX_NAMESPACE",
                                 "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS"})
            unsetenv(name);
        for (const environment::Variable& one : environment::variables()) unsetenv(one.name);
        for (const auto& [name, value] : variables) setenv(name, value, 1);
        action();
    });
    REQUIRE(outcome.succeeded());
    return outcome.said;
}

/// As every reader reads it, on one line.
void print_all() {
    const auto timeout = environment::timeout();
    std::printf("%s %g %d %s %s <%s> <%s>\n", name_of(environment::wait()).data(), timeout ? timeout->count() : 0,
                environment::verbosity(), name_of(environment::network()).data(), environment::nicd_socket().c_str(),
                environment::plan().c_str(), environment::report_file().c_str());
    std::fflush(stdout);
}

constexpr std::string_view defaults = "auto 0 0 auto /run/tollbar/nicd.sock <> <>\n";

}  // namespace

TEST_CASE("variables that are unset or empty leave the defaults, without a word") {
    CHECK(said_with({}, print_all) == defaults);
    CHECK(said_with({{"TOLLBAR_WAIT", ""},
                     {"TOLLBAR_TIMEOUT", ""},
                     {"TOLLBAR_VERBOSE", ""},
                     {"TOLLBAR_NETWORK", ""},
                     {"TOLLBAR_NICD", ""},
                     {"TOLLBAR_PLAN", ""},
                     {"TOLLBAR_REPORT", ""}},
                    print_all) == defaults);
}

TEST_CASE("accepted values are taken without a word") {
    CHECK(said_with({{"TOLLBAR_WAIT", "park"},
                     {"TOLLBAR_TIMEOUT", "1.5"},
                     {"TOLLBAR_VERBOSE", "2"},
                     {"TOLLBAR_NETWORK", "nic"},
                     {"TOLLBAR_NICD", "/a/socket"},
                     {"TOLLBAR_PLAN", "mcs"},
                     {"TOLLBAR_REPORT", "/a/file"}},
                    print_all) == "park 1.5 2 nic /a/socket <mcs> </a/file>\n");
    for (const char* value : {"0", "0.0"}) CHECK(said_with({{"TOLLBAR_TIMEOUT", value}}, print_all) == defaults);
    CHECK(said_with({{"TOLLBAR_REPORT", "-"}}, print_all) == defaults);
}

TEST_CASE("an unknown value is one line that names the accepted ones, however often it is asked for") {
    const auto twice = [] {
        print_all();
        print_all();
    };
    const auto refused = [&](const char* name, const char* value, const std::string& rest) {
        const std::string line = "tollbar: " + std::string(name) + " is '" + value + "'; accepted: " + rest + "\n";
        CHECK(said_with({{name, value}}, twice) == line + std::string(defaults) + std::string(defaults));
    };
    refused("TOLLBAR_WAIT", "never", "auto, spin, yield, park; using the default, auto");
    for (const char* value : {"abc", "-1", "1s", "inf", "nan", "1 "})
        refused("TOLLBAR_TIMEOUT", value, "seconds, 0 or more (0: never); using the default, 0");
    for (const char* value : {"3", "-1", "yes", "01"})
        refused("TOLLBAR_VERBOSE", value, "0, 1, 2; using the default, 0");
    refused("TOLLBAR_NETWORK", "fast", "auto, p2p, nic; using the default, auto");
}

TEST_CASE("of a job only the first rank says what is wrong for all") {
    for (const char* launcher : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        CHECK(said_with({{"TOLLBAR_WAIT", "never"}, {launcher, "1"}}, print_all) == defaults);
        CHECK(said_with({{"TOLLBAR_WAIT", "never"}, {launcher, "0"}}, print_all) != defaults);
    }
}

TEST_CASE("a plan that cannot be run is refused once, in the words of who found out") {
    CHECK(said_with({{"TOLLBAR_PLAN", "fast"}}, [] {
              environment::refuse_plan("there is none");
              environment::refuse_plan("there is none");
          }) == "tollbar: TOLLBAR_PLAN is 'fast': there is none; using the default, tollbar's own choice\n");
}

TEST_CASE("what a door's host says of verbosity goes before the variable, until it is taken back") {
    CHECK(said_with({{"TOLLBAR_VERBOSE", "1"}}, [] {
              for (const int told : {2, 0, -1}) {
                  tollbar_set_verbosity(told);
                  std::printf("%d", tollbar_verbosity());
              }
          }) == "201");
}

TEST_CASE("what doors in C read is what the variables accept") {
    int level = 7;
    CHECK(tollbar_to_level("2", &level) == 1);
    CHECK(tollbar_to_level("3", &level) == 0);
    CHECK(level == 2);
    tollbar_network network = TOLLBAR_NETWORK_UNSAID;
    CHECK(tollbar_to_network("", &network) == 0);
    CHECK(network == TOLLBAR_NETWORK_UNSAID);
    CHECK(tollbar_to_network("nic", &network) == 1);
    CHECK(network == TOLLBAR_NETWORK_NIC);
    CHECK(std::string_view(tollbar_accepted("TOLLBAR_NETWORK")) == "auto, p2p, nic");
}

TEST_CASE("the tuning file is the named one, else in the cache folder, of which a relative one does not count") {
    const auto file = [](std::initializer_list<Pair> variables) {
        return said_with(variables, [] { std::printf("%s", environment::tuning_file().c_str()); });
    };
    CHECK(file({{"TOLLBAR_TUNING", "here"}, {"XDG_CACHE_HOME", "/cache"}, {"HOME", "/home"}}) == "here");
    CHECK(file({{"XDG_CACHE_HOME", "/cache"}, {"HOME", "/home"}}) == "/cache/tollbar/tuning");
    CHECK(file({{"XDG_CACHE_HOME", "cache"}, {"HOME", "/home"}}) == "/home/.cache/tollbar/tuning");
    CHECK(file({{"XDG_CACHE_HOME", ""}, {"HOME", "/home"}}) == "/home/.cache/tollbar/tuning");
    CHECK(file({{"XDG_CACHE_HOME", ""}, {"HOME", ""}}).empty());
}

TEST_CASE("every set variable of the process is listed, with the line that refuses it") {
    const std::string said = said_with({{"TOLLBAR_WIAT", "spin"}, {"TOLLBAR_WAIT", "x"}, {"TOLLBAR_TIMEOUT", "1"}}, [] {
        for (const auto& [name, value, complaint] : environment::settings())
            std::printf("%s=%s:%s\n", name.c_str(), value.c_str(), complaint.c_str());
    });
    CHECK(said.starts_with("TOLLBAR_TIMEOUT=1:\nTOLLBAR_WAIT=x:TOLLBAR_WAIT is 'x'; accepted: auto, "));
    CHECK(said.find("\nTOLLBAR_WIAT=spin:TOLLBAR_WIAT is not a variable of tollbar; there are ") != said.npos);
}

TEST_CASE("a report goes to the end of the named file, else to stderr") {
    const testing::TemporaryFolder folder;
    const std::string path = folder.write("reports", "before\n");
    const auto report = [] { tollbar_report("rank 3 is missing", ""); };
    CHECK(said_with({{"TOLLBAR_REPORT", path.c_str()}}, report).empty());
    CHECK(folder.read("reports") == "before\ntollbar: rank 3 is missing\n");
    CHECK(said_with({{"TOLLBAR_REPORT", "-"}}, report) == "tollbar: rank 3 is missing\n");
    CHECK(said_with({}, report) == "tollbar: rank 3 is missing\n");
}

namespace {

/// The line of a report with facts for a run that a pipe gets as this process's stderr, or a file of that name.
std::string sent_to(const char* file) {
    const testing::TemporaryFolder folder;
    const std::string path = *file == '\0' ? folder.write("stderr", "") : file;
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const bool into_pipe = path == "pipe";
    CHECK(testing::in_child([&] {
              const int to = into_pipe ? ends[1] : open(path.c_str(), O_WRONLY | O_APPEND);
              if (to < 0 || dup2(to, STDERR_FILENO) != STDERR_FILENO) _exit(1);
              if (into_pipe) fcntl(STDERR_FILENO, F_SETFL, O_APPEND);
              setenv("TOLLBAR_REPORT", folder.path("reports").c_str(), 1);
              tollbar_report("a line", "a line [~facts]");
          }).succeeded());
    close(ends[1]);
    char line[100] = "";
    const ssize_t got = read(ends[0], line, sizeof line - 1);
    close(ends[0]);
    return got > 0 ? std::string(line) : "report: " + folder.read("reports");
}

}  // namespace

TEST_CASE("facts of a report go where the run that has started this program reads them, and nowhere else") {
    CHECK(sent_to("pipe") == "tollbar: a line [~facts]\n");
    CHECK(sent_to("") == "report: tollbar: a line\n");
    CHECK(sent_to("/dev/null") == "report: tollbar: a line\n");
}

TEST_CASE("a file that cannot be written is named once, and reports go to stderr") {
    const std::string said = said_with({{"TOLLBAR_REPORT", "/nowhere/file"}}, [] {
        tollbar_report("one", "");
        tollbar_report("two", "");
    });
    CHECK(said ==
          "tollbar: TOLLBAR_REPORT is '/nowhere/file': No such file or directory; using the default, stderr\n"
          "tollbar: one\ntollbar: two\n");
}

TEST_CASE("whatever is said is one line and leaves errno alone") {
    const std::string said = said_with({{"TOLLBAR_REPORT", "/nowhere/file"}}, [] {
        errno = ENOTTY;
        tollbar_say("%s", "a\nb");
        tollbar_report("c", "");
        std::printf("%d", errno == ENOTTY ? 1 : 0);
    });
    CHECK(said.starts_with("tollbar: a b\ntollbar: TOLLBAR_REPORT"));
    CHECK(said.ends_with("\ntollbar: c\n1"));
}

TEST_CASE("a step has its name from srun, by PMIx or PMI-2, and below another launcher none") {
    const auto name_with = [](std::initializer_list<Pair> variables) {
        return said_with(variables, [] {
            std::array<char, 200> name{};
            const int is_of_srun = tollbar_name_of_step(3, 4, name.data(), name.size());
            std::printf("%d %s\n", is_of_srun, name.data());
            std::fflush(stdout);
        });
    };
    const Pair job{"SLURM_JOB_ID", "4711"}, step{"SLURM_STEP_ID", "2"}, pmix{"PMIX_NAMESPACE", "slurm.pmix.4711.2"};
    const Pair rank{"SLURM_PROCID", "3"}, ranks{"SLURM_STEP_NUM_TASKS", "4"}, pmi{"PMI_JOBID", "4711.2"};
    CHECK(name_with({job, step, rank, ranks, pmix}) == "1 slurm.pmix.4711.2\n");
    CHECK(name_with({job, step, rank, ranks, pmi}) == "1 4711.2\n");
    CHECK(name_with({job, step, rank, ranks, {"PMIX_NAMESPACE", "prterun-login-17@1"}}) == "0 \n");
    CHECK(name_with({job, step, rank, ranks, {"PMI_JOBID", "4711.2-spawned"}}) == "0 \n");
    CHECK(name_with({job, step, rank, ranks}) == "0 \n");
    CHECK(name_with({rank, ranks, {"PMI_JOBID", "."}}) == "0 \n");
    CHECK(name_with({job, step, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, pmix}) == "0 \n");
    CHECK(name_with({job, step, ranks, pmi}) == "0 \n");
}
