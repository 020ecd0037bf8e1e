// SPDX-License-Identifier: Apache-2.0
// Named groups are read from outside: who has arrived, who has not, and nothing is changed by it.
#include "look/groups.hpp"
#include "look/report.hpp"

#include "transports/words/shared_file.hpp"

#include <doctest/doctest.h>
#include <tollbar/participant.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace {

using tollbar::look::SeenGroup;

std::optional<SeenGroup> seen(const std::string& name) {
    const std::vector<SeenGroup> groups = tollbar::look::groups();
    const auto found = std::ranges::find(groups, name, &SeenGroup::name);
    return found == groups.end() ? std::nullopt : std::optional(*found);
}

std::string own_name(const char* test) { return "look-" + std::string(test) + "-" + std::to_string(getpid()); }

}  // namespace

TEST_CASE("the rank that has not arrived is missing, the others have arrived") {
    const std::string name = own_name("missing");
    tollbar::group group = tollbar::group::open(name, 3, {.plan = "dissemination"});
    tollbar::participant first = group.join(0), second = group.join(1), third = group.join(2);
    first.arrive();
    third.arrive();
    const auto found = seen(name);
    REQUIRE(found);
    CHECK(found->plan == "dissemination");
    CHECK(found->ranks == 3);
    REQUIRE(found->missing.size() == 1);
    CHECK(found->missing[0].rank == 1);
    CHECK(found->missing[0].process == getpid());
    REQUIRE(found->arrived.size() == 2);
    CHECK(found->arrived[1].rank == 2);
    const std::string me = "(process " + std::to_string(getpid()) + ", thread " + std::to_string(gettid()) + ")";
    CHECK(tollbar::look::to_json({{}, {*found}})
              .find("\"group '" + name +
                    "' (3 ranks, dissemination), episode 1: 2 of 3 "
                    "have arrived: rank 1 " +
                    me + " has not arrived\"") != std::string::npos);
    second.arrive();
    for (bool over = false; !over;) {  // one thread takes everybody's steps
        const bool one = first.test(), two = second.test(), three = third.test();
        over = one && two && three;
    }
    CHECK(seen(name)->missing.empty());
}

TEST_CASE("the name of a group is read from the path of its file, and of no other file") {
    using tollbar::detail::name_of_shared_file;
    CHECK(name_of_shared_file("/dev/shm/tollbar.1000.a.b") == "a.b");
    CHECK(name_of_shared_file("/run/shm/tollbar.0.x (deleted)") == "x");
    for (const char* path : {"", "tollbar.", "/dev/shm/tollbar.1000", "/dev/shm/other.1000.a", "/tollbar.0.a/other"})
        CHECK(name_of_shared_file(path).empty());
}

TEST_CASE("before the first episode nobody is missing") {
    const std::string name = own_name("first");
    tollbar::group group = tollbar::group::open(name, 2);
    const tollbar::participant first = group.join(0);
    const auto found = seen(name);
    REQUIRE(found);
    CHECK(found->missing.empty());
    CHECK(found->arrived.empty());
}

TEST_CASE("a look leaves the file to the last of its users") {
    const std::string name = own_name("file");
    const std::string path = "/dev/shm/tollbar." + std::to_string(geteuid()) + "." + name;
    {
        tollbar::group group = tollbar::group::open(name, 2);
        const tollbar::participant first = group.join(0);
        CHECK(seen(name));
        CHECK(access(path.c_str(), F_OK) == 0);
    }
    CHECK(access(path.c_str(), F_OK) != 0);
    CHECK_FALSE(seen(name));
}

TEST_CASE("a look waits for nobody at a pipe that has a group's name, and follows no link") {
    const std::string path = "/dev/shm/tollbar." + std::to_string(geteuid()) + "." + own_name("pipe");
    const std::string link = path + ".link";
    REQUIRE(mkfifo(path.c_str(), 0666) == 0);
    REQUIRE(symlink(path.c_str(), link.c_str()) == 0);
    CHECK_FALSE(seen(own_name("pipe")));
    CHECK_FALSE(seen(own_name("pipe") + ".link"));
    unlink(link.c_str());
    unlink(path.c_str());
}
