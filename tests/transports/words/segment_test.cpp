// SPDX-License-Identifier: Apache-2.0
// Named groups meet what they may find: left-overs, strangers, damage, too little memory, each other. And counters
// of all groups cross every power of two they could stumble over.
#include "base/environment.hpp"
#include "transports/words/segment.hpp"

#include "child.hpp"
#include <tollbar/algorithms.hpp>
#include "toll.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;

namespace {

/// A group whose first episode is the one after `start`. The second opening finds what the first has made.
group group_from(Episode start, Rank ranks, const std::string& plan, wait_policy wait) {
    const std::string name = unique("from");
    const Segment made(name,
                       {.layout = lay_out(make_plan(plan, ranks)),
                        .plan = plan,
                        .ranks = ranks,
                        .wait = wait,
                        .scope = Scope::shared,
                        .start = start},
                       false);
    return group::open(name, ranks, {.plan = plan});
}

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

}  // namespace

TEST_CASE("episodes and words cross powers of two, spinning and parking") {
    struct Crossing {
        const char* plan;
        Rank ranks;
        Episode share;  // how much a word of it grows in an episode
    };
    constexpr Crossing crossings[] = {
        {"turnstile", 2, 2},     {"turnstile", 3, 3},     {"turnstile", 5, 5},     {"combination:1", 2, 2},
        {"combination:1", 5, 5}, {"combination:2", 4, 2}, {"combination:2", 5, 3}, {"combination:3/mcs", 7, 3},
        {"dissemination", 2, 1}, {"dissemination", 5, 1}, {"mcs", 5, 1},           {"central@2/pairwise", 5, 1},
    };
    for (const int bits : {8, 16, 31, 32})
        for (const Crossing& crossing : crossings)
            for (const wait_policy wait : {wait_policy::automatic, wait_policy::spin, wait_policy::park}) {
                if (wait == wait_policy::spin && crossing.ranks > 2) continue;
                CAPTURE(bits);
                CAPTURE(crossing.plan);
                CAPTURE(crossing.ranks);
                CAPTURE(name_of(wait));
                const Episode edge = Episode{1} << bits;
                for (const Episode start : {edge - 3, edge / crossing.share - 3}) {
                    ThreadHarness harness(group_from(start, crossing.ranks, crossing.plan, wait));
                    const FreeRun free_run{.episodes = 6, .late_every = 2, .mixed = true};
                    CHECK(complaints(harness, {0, crossing.ranks - 1}, free_run).empty());
                }
            }
}

TEST_CASE("a group tells its episodes from where it starts") {
    group group = group_from(41, 2, "turnstile", wait_policy::automatic);
    CHECK(group.missing().empty());
    participant self = group.join(0);
    CHECK(self.episode() == 41);
    self.arrive();
    CHECK(self.episode() == 42);
    CHECK(group.missing().at(0).behind == 1);
}

TEST_CASE("names that would lead elsewhere are refused with what is accepted") {
    for (const std::string& name : {std::string(), std::string("a/b"), std::string("../x"), std::string("a b"),
                                    std::string("\xe4"), std::string("a\0b", 3), std::string(201, 'x')}) {
        CAPTURE(name);
        CHECK(thrown_by([&] { group::open(name, 2); }) ==
              ("group name '" + name + "' is not 1 to 200 letters, digits, '.', '_' or '-'").c_str());
    }
    CHECK(thrown_by([] { group::open(unique("..Az09_-"), 2); }).empty());
}

TEST_CASE("a group of other ranks or another plan is refused, telling both") {
    const std::string name = unique("other");
    const group made = group::open(name, 4, {.plan = "mcs"});
    CHECK(thrown_by([&] { group::open(name, 5, {.plan = "mcs"}); }) == "group '" + name + "' has 4 ranks, not 5");
    CHECK(thrown_by([&] { group::open(name, 4, {.plan = "bst"}); }) == "group '" + name + "' runs 'mcs', not 'bst'");
    CHECK(group::open(name, 4).plan() == "mcs");
}

TEST_CASE("a segment whose holders were all killed is replaced") {
    const std::string name = unique("stale");
    {
        ProcessHarness harness(3, [&](Rank rank, Board& board) {
            group group = group::open(name, 3, {.plan = "turnstile"});
            serve(group, board, rank);
        });
        for (Rank rank = 0; rank < 3; ++rank) harness.call(rank, Call::arrive);
        for (Rank rank = 0; rank < 3; ++rank) harness.signal(rank, SIGKILL);
    }
    CHECK(std::filesystem::exists(path_of(name)));
    group anew = group::open(name, 2, {.plan = "mcs"});
    CHECK(anew.ranks() == 2);
    CHECK(anew.missing().empty());
    const participant self = anew.join(0);
}

TEST_CASE("a foreign file is refused and left as it was, whatever it begins with") {
    const std::string name = unique("foreign");
    for (const std::string& text : {std::string("#!/bin/sh\n"), std::string(), std::string(4096, '\0'),
                                    std::string("tollbar group"), std::string("tollbar group 0\n and more")}) {
        CAPTURE(text);
        write_file(path_of(name), text);
        CHECK(thrown_by([&] { group::open(name, 2); }) ==
              path_of(name) + " is not a tollbar group; remove it or take another name");
        CHECK(contents(path_of(name)) == text);
    }
    std::filesystem::remove(path_of(name));
}

TEST_CASE("what is no file at all is refused") {
    const std::string name = unique("strange");
    const std::string target = path_of(name) + ".target";
    write_file(target, "precious");
    std::filesystem::create_symlink(target, path_of(name));
    CHECK_THROWS_AS(group::open(name, 2), std::system_error);
    CHECK(contents(target) == "precious");
    std::filesystem::remove(path_of(name));
    std::filesystem::remove(target);
    std::filesystem::create_directory(path_of(name));
    CHECK_THROWS_AS(group::open(name, 2), std::system_error);
    std::filesystem::remove(path_of(name));
}

TEST_CASE("damage in what is written once is found, whichever byte it hits") {
    const std::string name = unique("damaged");
    constexpr Rank ranks = 3;
    const group made = group::open(name, ranks, {.plan = "dissemination"});
    const Layout layout = lay_out(make_plan("dissemination", ranks));
    const std::string whole = contents(path_of(name));
    const std::size_t changing = (ranks * sizeof(RankRecord)) + (layout.sleepers + layout.lines + 1) * line_bytes;

    std::vector<std::size_t> unnoticed;
    const int file = open(path_of(name).c_str(), O_RDWR | O_CLOEXEC);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        const char flipped = static_cast<char>(whole[at] ^ 0x10);
        REQUIRE(pwrite(file, &flipped, 1, static_cast<off_t>(at)) == 1);
        const std::string error = thrown_by([&] { group::open(name, ranks); });
        REQUIRE(pwrite(file, &whole[at], 1, static_cast<off_t>(at)) == 1);
        if (error.empty())
            unnoticed.push_back(at);
        else
            CHECK((error.find("is damaged") != error.npos || error.find("is not a tollbar group") != error.npos));
    }
    close(file);
    REQUIRE_FALSE(unnoticed.empty());
    CHECK(unnoticed.back() - unnoticed.front() + 1 == changing);  // the slots, the sleepers, the words and nothing else
    CHECK(thrown_by([&] { group::open(name, ranks); }).empty());
}

TEST_CASE("a segment cut short is refused") {
    const std::string name = unique("short");
    const group made = group::open(name, 2, {.plan = "turnstile"});
    for (const std::uintmax_t bytes : {20U, 200U, 4000U}) {
        if (bytes >= std::filesystem::file_size(path_of(name))) continue;
        std::filesystem::resize_file(path_of(name), bytes);
        CHECK(thrown_by([&] { group::open(name, 2); }).find("is damaged") != std::string::npos);
    }
    std::filesystem::remove(path_of(name));
}

TEST_CASE("many who open the same name at once share one group, even when others die midway") {
    const std::string name = unique("crowd");
    constexpr Rank ranks = 4;
    std::uint32_t random = 7;
    for (int round = 0; round < (slowness > 1 ? 10 : 30); ++round) {
        std::vector<pid_t> victims;
        for (int i = 0; i < 4; ++i) {
            std::fflush(nullptr);
            victims.push_back(fork());
            REQUIRE(victims.back() >= 0);
            if (victims.back() != 0) continue;
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;) thrown_by([&] { group::open(name, ranks, {.plan = "mcs"}); });
        }
        {
            ProcessHarness harness(ranks, [&](Rank rank, Board& board) {
                try {
                    group group = group::open(name, ranks, {.plan = "mcs"});
                    serve(group, board, rank);
                } catch (const std::exception& error) {
                    std::fprintf(stderr, "rank %u: %s\n", static_cast<unsigned>(rank), error.what());
                    _exit(1);
                }
            });
            for (const pid_t victim : victims) {
                random = random * 1664525 + 1013904223;
                for (std::uint32_t i = 0; i < random >> 27; ++i) sched_yield();  // anywhere in its work
                kill(victim, SIGKILL);
            }
            CHECK_NOTHROW(harness.run({.episodes = 3, .late_every = 1, .mixed = true}));
            CHECK(harness.unpaid() == 0);
        }
        for (const pid_t victim : victims) waitpid(victim, nullptr, 0);
    }
    group::open(name, ranks);  // removes what the victims left
    CHECK_FALSE(std::filesystem::exists(path_of(name)));
}

TEST_CASE("another user's file under our name is refused, and their groups have names of their own") {
    const std::string name = unique("user");
    if (geteuid() != 0) {
        MESSAGE("left out: only root can give a file to somebody else");
        return;
    }
    write_file(path_of(name), contents("/dev/null"));
    {
        const group made = group::open(unique("user.copy"), 2);
        write_file(path_of(name), contents(path_of(unique("user.copy"))));
    }
    REQUIRE(chown(path_of(name).c_str(), 65534, 65534) == 0);
    CHECK(thrown_by([&] { group::open(name, 2); }) ==
          path_of(name) + " belongs to another user (uid 65534); take another name");
    std::filesystem::remove(path_of(name));

    const group ours = group::open(name, 2, {.plan = "turnstile"});
    const Outcome outcome = in_child([&] {
        if (setresuid(65534, 65534, 65534) != 0) _exit(1);
        const group theirs = group::open(name, 3, {.plan = "mcs"});
        std::fputs(theirs.plan().c_str(), stderr);
    });
    CHECK(outcome.succeeded());
    CHECK(outcome.said == "mcs");
}

TEST_CASE("a full /dev/shm is an error that names what could not be had, and nothing is left behind") {
    const Outcome outcome = in_child([] {
        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=64k") != 0)
            _exit(2);
        std::fputs(thrown_by([] { group::open("big", 64, {.plan = "dissemination"}); }).c_str(), stderr);
        if (!std::filesystem::is_empty("/dev/shm")) _exit(3);
        group::open("small", 2, {.plan = "turnstile"});
    });
    if (WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == 2) {
        MESSAGE("left out: no right to mount a small /dev/shm");
        return;
    }
    CHECK(outcome.succeeded());
    CHECK(outcome.said.find("bytes for /dev/shm/tollbar.") != std::string::npos);
    CHECK(outcome.said.find("No space left on device") != std::string::npos);
}
