// SPDX-License-Identifier: Apache-2.0
// The tuning file is read as it is written, and what is wrong with it is named.
#include <tollbar/algorithms.hpp>
#include <tollbar/verify.hpp>

#include "child.hpp"
#include "base/environment.hpp"
#include "tuner/tuning.hpp"
#include "refusal.hpp"
#include "temporary.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

const std::string header = "tollbar-tuning 1\n";
const std::string good = "threads ranks=8 cpus=2 pinned=no plan=turnstile wait=auto";

std::vector<Tuned> read(const std::string& text) {
    std::istringstream file(text);
    return read_tuning(file);
}

std::string objection(const std::string& text) {
    return refusal([&] { (void)read(text); });
}

/// A file of that content, gone with this object.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& text) : path_(folder_.write("tuning", text)) {}
    const std::string& path() const { return path_; }

private:
    testing::TemporaryFolder folder_;
    std::string path_;
};

/// Says on stdout what tuned_choice finds for eight ranks on two CPUs; in a child, because the file is read once.
testing::Outcome choice_in_child(const std::string& tuning) {
    return testing::in_child([&] {
        setenv("TOLLBAR_TUNING", tuning.c_str(), 1);
        for (int i = 0; i < 2; ++i) {
            const auto choice = tuned_choice({.ranks = 8, .cpus = 2, .pinned = false});
            std::printf("<%s>\n", choice ? (choice->plan + " " + choice->wait).c_str() : "nothing");
        }
    });
}

}  // namespace

TEST_CASE("every line for threads becomes an entry") {
    const auto all = read(header + good + " verdict=best latency_ns=5100\n" +
                          "threads ranks=4 cpus=4 pinned=yes plan=mcs:4,2 wait=park\n");
    REQUIRE(all.size() == 2);
    CHECK(all[0].situation == Situation{.ranks = 8, .cpus = 2, .pinned = false});
    CHECK(all[0].choice == Choice{"turnstile", "auto"});
    CHECK(all[1].situation == Situation{.ranks = 4, .cpus = 4, .pinned = true});
    CHECK(all[1].choice == Choice{"mcs:4,2", "park"});
}

TEST_CASE("other kinds, other keys and empty lines are passed over") {
    CHECK(read(header).empty());
    CHECK(read(header + "\n" + "mpi hosts=3 whatever\n").empty());
    CHECK(read(header + good + " machine=a=b ratio=1.08\n").size() == 1);
    CHECK(read(header + good).size() == 1);  // no newline at the end
}

TEST_CASE("threads that are not pinned never meet once a processor, whatever the file says") {
    const std::string old = "threads ranks=8 cpus=2 pinned=no plan=combination wait=auto verdict=best launches=6\n" +
                            std::string("threads ranks=4 cpus=2 pinned=no plan=combination:2/mcs wait=auto\n") +
                            "threads ranks=8 cpus=2 pinned=yes plan=combination wait=auto\n" +
                            "threads ranks=16 cpus=2 pinned=no plan=turnstile wait=auto\n";
    const auto all = read(header + old);
    REQUIRE(all.size() == 2);
    CHECK(all[0].situation == Situation{.ranks = 8, .cpus = 2, .pinned = true});
    CHECK(all[0].choice.plan == "combination");
    CHECK(all[1].situation == Situation{.ranks = 16, .cpus = 2, .pinned = false});
    const TemporaryFile file(header + old);
    CHECK(choice_in_child(file.path()).said == "<nothing>\n<nothing>\n");
}

TEST_CASE("a line that is wrong is named with what is accepted") {
    CHECK(objection("") == "line 1: expected 'tollbar-tuning 1'");
    CHECK(objection("tollbar-tuning 2\n" + good) == "line 1: expected 'tollbar-tuning 1'");
    CHECK(objection(header + good + " nonsense\n") == "line 2: 'nonsense' is not KEY=VALUE");
    CHECK(objection(header + good + "\n" + "threads ranks=8 cpus=2 pinned=no plan=turnstile\n") ==
          "line 3: needs ranks, cpus, pinned, plan and wait");
    CHECK(objection(header + "threads ranks=0 cpus=2 pinned=no plan=mcs wait=auto") ==
          "line 2: '0' is not a number of at least 1");
    CHECK(objection(header + "threads ranks=8x cpus=2 pinned=no plan=mcs wait=auto") ==
          "line 2: '8x' is not a number of at least 1");
    CHECK(objection(header + "threads ranks=99999999999 cpus=2 pinned=no plan=mcs wait=auto") ==
          "line 2: '99999999999' is not a number of at least 1");
    CHECK(objection(header + "threads ranks=8 cpus=2 pinned=maybe plan=mcs wait=auto") ==
          "line 2: 'maybe' is neither no nor yes");
    CHECK(objection(header + "threads ranks=8 cpus=2 pinned=no plan=mcs wait=never") ==
          "line 2: 'never' is neither auto nor park");
    CHECK(objection(header + "threads ranks=8 cpus=2 pinned=no plan= wait=auto") ==
          "line 2: needs ranks, cpus, pinned, plan and wait");
}

TEST_CASE("the file is that of TOLLBAR_TUNING, else in the user's cache") {
    const auto found = testing::in_child([] {
        setenv("HOME", "/home/somebody", 1);
        unsetenv("XDG_CACHE_HOME");
        unsetenv("TOLLBAR_TUNING");
        std::printf("<%s>", environment::tuning_file().c_str());
        setenv("XDG_CACHE_HOME", "/cache", 1);
        std::printf("<%s>", environment::tuning_file().c_str());
        setenv("TOLLBAR_TUNING", "here", 1);
        std::printf("<%s>", environment::tuning_file().c_str());
        setenv("TOLLBAR_TUNING", "", 1);
        unsetenv("XDG_CACHE_HOME");
        unsetenv("HOME");
        std::printf("<%s>", environment::tuning_file().c_str());
    });
    CHECK(found.said == "</home/somebody/.cache/tollbar/tuning></cache/tollbar/tuning><here><>");
}

TEST_CASE("a stored choice is found for exactly its situation") {
    const TemporaryFile file(header + "threads ranks=8 cpus=4 pinned=no plan=central wait=auto\n" +
                             "threads ranks=8 cpus=2 pinned=yes plan=central wait=auto\n" + good + "\n");
    CHECK(choice_in_child(file.path()).said == "<turnstile auto>\n<turnstile auto>\n");
    const TemporaryFile others(header + "threads ranks=8 cpus=4 pinned=no plan=central wait=auto\n");
    CHECK(choice_in_child(others.path()).said == "<nothing>\n<nothing>\n");
}

TEST_CASE("a damaged file is reported once and counts as empty") {
    const TemporaryFile file(header + "threads ranks=8\n");
    const auto outcome = choice_in_child(file.path());
    CHECK(outcome.times_said("<nothing>") == 2);
    CHECK(outcome.times_said("tollbar: " + file.path() + ": line 2: needs ranks, cpus, pinned, plan and wait") == 1);
    CHECK(outcome.times_said("\n") == 3);

    const TemporaryFile binary(std::string("\0\1\2\xff", 4));
    CHECK(choice_in_child(binary.path()).times_said("line 1: expected 'tollbar-tuning 1'") == 1);
    CHECK(choice_in_child("/").times_said("tollbar: /: is no file") == 1);
    CHECK(choice_in_child("/dev/zero").times_said("tollbar: /dev/zero: is no file") == 1);  // it never ends
}

TEST_CASE("a missing file counts as empty and is nothing to speak of") {
    CHECK(choice_in_child("/nowhere/tuning").said == "<nothing>\n<nothing>\n");
}

namespace {

constexpr bool pinned = true;

/// The plan of ranks whose process has a CPU for each and clusters of so many cores; with "*" where they take slots.
std::string untuned(Rank ranks, bool are_pinned, const std::vector<std::uint32_t>& cores, bool caches = true,
                    std::uint32_t threads = 1) {
    Clusters clusters{.all = {}, .caches = caches};
    std::uint32_t cpus = 0;
    for (const std::uint32_t count : cores) {
        clusters.all.push_back(
            {.number = static_cast<std::uint32_t>(clusters.all.size()), .cores = count, .cpus = count * threads});
        cpus += count * threads;
    }
    const Choice choice = default_choice({.ranks = ranks, .cpus = cpus, .pinned = are_pinned}, clusters);
    CHECK(choice.wait == "auto");
    if (choice.neighbours != 0) CHECK(choice.groups == (ranks - 1) / choice.neighbours + 1);
    return choice.plan + (choice.groups == 0 ? "" : "*");
}

}  // namespace

TEST_CASE("without a measurement two, crowded, or a few wandering ranks meet at one word") {
    CHECK(untuned(2, pinned, {2}) == "turnstile");
    CHECK(untuned(3, pinned, {2}) == "turnstile");
    CHECK(untuned(64, pinned, {8}) == "turnstile");
    CHECK(untuned(64, !pinned, {8}) == "turnstile");
    CHECK(untuned(8, !pinned, {8}) == "turnstile");
    CHECK(untuned(9, !pinned, {8, 8}) == "dissemination:2");
}

TEST_CASE("pinned ranks of one cluster tell each other, all at once while they are few") {
    CHECK(untuned(3, pinned, {8, 8}) == "dissemination:2");
    CHECK(untuned(8, pinned, {8, 8}) == "dissemination:7");
    CHECK(untuned(12, pinned, {12}) == "dissemination:2");
    CHECK(untuned(9, pinned, {8, 8}, false) == "dissemination:2");  // of one big cache
}

TEST_CASE("pinned ranks of several clusters meet in each, then between them") {
    CHECK(untuned(16, pinned, {8, 8}) == "combination:2/dissemination:1*");
    CHECK(untuned(32, pinned, {8, 8, 8, 8}) == "combination:4/dissemination:3*");
    CHECK(untuned(64, pinned, std::vector<std::uint32_t>(8, 8)) == "combination:8/dissemination:2*");
    CHECK(untuned(128, pinned, std::vector<std::uint32_t>(16, 8)) == "combination:16/butterfly*");
    CHECK(untuned(20, pinned, {8, 8, 4}) == "turnstile@8/dissemination:2*");  // half of the last one is in sight
    CHECK(untuned(12, pinned, {8, 8}) == "turnstile@8/dissemination:1*");
    CHECK(untuned(16, pinned, std::vector<std::uint32_t>(16, 1)) == "butterfly");  // nobody has neighbours
    CHECK(untuned(4, pinned, {1, 1, 1, 1}) == "dissemination:3");
}

TEST_CASE("ranks take a core each while there are cores, then their second threads") {
    CHECK(untuned(16, pinned, {8, 8}, true, 2) == "combination:2/dissemination:1*");
    CHECK(untuned(32, pinned, {8, 8}, true, 2) == "combination:2/dissemination:1*");
    CHECK(untuned(8, pinned, {8, 8}, true, 2) == "dissemination:7");
}

TEST_CASE("a default is a barrier for every number of ranks and clusters") {
    for (const std::uint32_t cores : {1U, 3U, 8U, 12U})
        for (std::uint32_t count = 1; count <= 8; ++count)
            for (Rank ranks = 1; ranks <= cores * count; ++ranks) {
                const std::string plan = untuned(ranks, pinned, std::vector<std::uint32_t>(count, cores));
                CAPTURE(ranks);
                CAPTURE(plan);
                CHECK(verify(make_plan(plan.substr(0, plan.find('*')), ranks)).holds());
            }
}
