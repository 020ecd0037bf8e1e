// SPDX-License-Identifier: Apache-2.0
// Whether a process lives is told from /proc, not from its number alone.
#include "base/process.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fstream>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

/// A child that does `action` and then waits to be killed. Does not return before the action is done.
template <class Action>
pid_t child_that(Action action) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        action(ends[1]);
        for (;;) pause();
    }
    close(ends[1]);
    char done = 0;
    REQUIRE(read(ends[0], &done, 1) == 1);
    close(ends[0]);
    return child;
}

void say_done(int descriptor) { REQUIRE(write(descriptor, "!", 1) == 1); }

void end(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

}  // namespace

TEST_CASE("this process runs") {
    CHECK(start_of(getpid()) != 0);
    CHECK(is_running(getpid(), start_of(getpid())));
    CHECK(is_running(getpid(), 0));
}

TEST_CASE("another process of the same number is told apart by its start") {
    CHECK_FALSE(is_running(getpid(), start_of(getpid()) + 1));
}

TEST_CASE("there is no process of a number beyond all") {
    CHECK(start_of(0x7fff'fffe) == 0);
    CHECK_FALSE(is_running(0x7fff'fffe, 0));
}

TEST_CASE("a stopped process runs, a killed one does not, whether it was reaped or not") {
    const pid_t child = child_that(say_done);
    const std::uint64_t start = start_of(child);
    kill(child, SIGSTOP);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED);
    CHECK(is_running(child, start));
    kill(child, SIGKILL);
    waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
    CHECK_FALSE(is_running(child, start));
    waitpid(child, nullptr, 0);
    CHECK_FALSE(is_running(child, start));
}

TEST_CASE("a name full of parentheses and blanks hides nothing") {
    const pid_t child = child_that([](int descriptor) {
        prctl(PR_SET_NAME, ") Z 1 (x) Z 2");
        say_done(descriptor);
    });
    CHECK(is_running(child, start_of(child)));
    end(child);
    CHECK_FALSE(is_running(child, 0));
}

// A sanitizer reads its process's memory map through the main thread, so it cannot do without one.
TEST_CASE("a process whose main thread has ended still runs" * doctest::skip(TOLLBAR_SANITIZED)) {
    const pid_t child = child_that([](int descriptor) {
        std::thread([descriptor] {
            const std::string main_thread = "/proc/self/task/" + std::to_string(getpid()) + "/stat";
            for (std::string stat; stat.find(") Z ") == stat.npos;) std::getline(std::ifstream(main_thread), stat);
            say_done(descriptor);
            for (;;) pause();
        }).detach();
        syscall(SYS_exit, 0);  // ends the thread only, and without unwinding the test framework
    });
    CHECK(is_running(child, start_of(child)));
    end(child);
}

TEST_CASE("nobody says of a process whose number is of another namespace that it has ended") {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t outside = getpid();
    const std::uint64_t start = start_of(outside);
    const pid_t maker = fork();
    if (maker == 0) {
        if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) _exit(2);
        const pid_t inside = fork();  // has number 1 there
        if (inside == 0) {
            const bool with_old_proc = is_running(outside, start);
            const bool mounted = mount("none", "/proc", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                                 mount("proc", "/proc", "proc", 0, nullptr) == 0;
            const bool with_new_proc = is_running(outside, start);
            const std::uint64_t own = start_of(getpid());
            const bool self = is_running(getpid(), own) && !is_running(getpid(), own + 1);
            if (write(ends[1], &own, sizeof own) != sizeof own) _exit(3);
            _exit(!mounted ? 2 : with_old_proc && with_new_proc && self ? 0 : 1);
        }
        int status = 0;
        waitpid(inside, &status, 0);
        _exit(WEXITSTATUS(status));
    }
    int status = 0;
    waitpid(maker, &status, 0);
    if (WEXITSTATUS(status) == 2) {
        MESSAGE("skipped: no namespace of process numbers can be had");
        return;
    }
    CHECK(WEXITSTATUS(status) == 0);
    std::uint64_t theirs = 0;
    REQUIRE(read(ends[0], &theirs, sizeof theirs) == sizeof theirs);
    CHECK(is_running(1, theirs));
    CHECK(is_running(0x7fff'fffe, theirs));
    CHECK_FALSE(is_running(0x7fff'fffe, start));
}

TEST_CASE("the regions of a process say what its memory is") {
    static int variable = 0;
    const std::vector<Region> regions = regions_of(0);
    const Region* const own = region_at(regions, reinterpret_cast<std::uintptr_t>(&variable));
    REQUIRE(own != nullptr);
    CHECK((own->readable && own->writable && !own->shared));
    CHECK(own->name.find("process_test") != std::string::npos);
    CHECK(region_at(regions, 0) == nullptr);
    CHECK(region_at(regions, regions.front().begin) == &regions.front());
    CHECK(region_at(regions, regions.front().end - 1) == &regions.front());
}

TEST_CASE("shared memory without a file is that of /dev/zero") {
    void* const memory = mmap(nullptr, 1, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const std::vector<Region> regions = regions_of(getpid());
    const Region* const found = region_at(regions, reinterpret_cast<std::uintptr_t>(memory));
    REQUIRE(found != nullptr);
    CHECK((found->shared && !found->writable && found->name == "/dev/zero (deleted)"));
    munmap(memory, 1);
}

TEST_CASE("a process that is not there has no regions") { CHECK(regions_of(1 << 30).empty()); }

TEST_CASE("processes of a session are of one group of the scheduler, those of another are of another") {
    const std::uint8_t own = scheduler_group();
    CHECK(own != 0);
    const auto group_of_child = [](bool new_session) {
        const pid_t child = fork();
        if (child == 0) {
            if (new_session) setsid();
            _exit(scheduler_group());
        }
        int status = 0;
        waitpid(child, &status, 0);
        return WEXITSTATUS(status);
    };
    CHECK(group_of_child(false) == own);
    int others = 0;
    for (int i = 0; i < 4; ++i) others += group_of_child(true) != own ? 1 : 0;
    CHECK(others >= 1);  // numbers may coincide
}
