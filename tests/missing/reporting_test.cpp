// SPDX-License-Identifier: Apache-2.0
#include "missing/reporting.hpp"

#include "child.hpp"
#include "temporary.hpp"

#include <doctest/doctest.h>

#include <array>
#include <fcntl.h>
#include <fstream>
#include <new>
#include <sstream>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
using Seconds = std::chrono::duration<double>;

TEST_CASE("a wait without a timeout has no deadline and no reports") {
    bool never = false;
    const auto finish = [&](auto deadline) { return never = std::is_same_v<decltype(deadline), Never>; };
    CHECK(wait_reporting({}, finish, [](Seconds) { return false; }));
    CHECK(never);
}

TEST_CASE("a wait reports each timeout that has passed, and goes on") {
    std::vector<double> reported;
    const auto finish = [&](auto) { return reported.size() == 3; };
    const auto report = [&](Seconds waited) {
        reported.push_back(waited.count());
        return true;
    };
    CHECK(wait_reporting(Seconds(0.25), finish, report));
    CHECK(reported == std::vector{0.25, 0.5, 0.75});
}

TEST_CASE("a wait ends with the report that finds nothing left to wait for") {
    CHECK_FALSE(wait_reporting(
        Seconds(0), [](auto) { return false; }, [](Seconds) { return false; }));
}

TEST_CASE("a wait goes on without a report for which there is no memory") {
    int tried = 0;
    const auto report = [&](Seconds) -> bool {
        ++tried;
        throw std::bad_alloc();
    };
    CHECK(wait_reporting(
        Seconds(0), [&](auto) { return tried == 2; }, report));
}

TEST_CASE("a look is due for a report once a timeout") {
    double at = 2;
    CHECK_FALSE(report_is_due(1.9, 2, at));
    CHECK(report_is_due(2.5, 2, at));
    CHECK_FALSE(report_is_due(4.4, 2, at));
    CHECK(report_is_due(4.5, 2, at));
    CHECK_FALSE(report_is_due(100, 0, at));
}

TEST_CASE("of many ranks those that follow each other are listed together") {
    std::vector<Rank> ranks;
    for (Rank rank = 0; rank < 1024; ++rank)
        if (rank != 17) ranks.push_back(rank);
    CHECK(listed(ranks) == "0-16 and 18-1023");
    CHECK(listed(std::array<Rank, 8>{0, 1, 2, 3, 4, 5, 6, 7}) == "0, 1, 2, 3, 4, 5, 6 and 7");
    CHECK(listed(std::array<Rank, 9>{0, 1, 3, 5, 6, 7, 9, 10, 12}) == "0, 1, 3, 5-7, 9, 10 and 12");
    std::vector<Rank> odd;
    for (Rank rank = 1; rank < 60; rank += 2) odd.push_back(rank);
    for (Rank rank = 100; rank < 110; ++rank) odd.push_back(rank);
    CHECK(listed(odd) == "1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31 and 24 more");
}

TEST_CASE("many members are listed as the first sixteen and a number") {
    CHECK(listed(std::vector<Rank>{}).empty());
    CHECK(listed(std::array<Rank, 1>{3}) == "3");
    CHECK(listed(std::array<Rank, 2>{3, 5}) == "3 and 5");
    CHECK(listed(std::array<Rank, 3>{3, 5, 7}) == "3, 5 and 7");
    CHECK(listed(std::vector<Rank>(16, 1)) == "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 and 1");
    CHECK(listed(std::vector<Rank>(18, 1)) == "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 and 2 more");
}

namespace {

/// All that is in a file, in a child of this process that has opened it as descriptor 2 with those flags and said a
/// line.
std::string said_into(int flags) {
    const testing::TemporaryFolder folder;
    const std::string file = folder.path() + "/file";
    CHECK(testing::in_child([&] {
              close(STDERR_FILENO);
              if (open(file.c_str(), O_RDWR | O_CREAT | flags, 0600) != STDERR_FILENO) _exit(1);
              errno = 1234;
              tollbar_say("a line");
              if (errno != 1234) _exit(2);
          }).succeeded());
    std::stringstream all;
    all << std::ifstream(file).rdbuf();
    return all.str();
}

}  // namespace

TEST_CASE("a file that has become descriptor 2 gets no lines unless it is one that is appended to") {
    CHECK(said_into(0).empty());
    CHECK(said_into(O_APPEND) == "tollbar: a line\n");
}

TEST_CASE("a line can be said without a stderr, and is said where it was at the start") {
    CHECK(testing::in_child([] {
              close(STDERR_FILENO);
              tollbar_say("a line");
          }).succeeded());
    CHECK(testing::in_child([&] { tollbar_say("a line"); }).said == "tollbar: a line\n");
}
