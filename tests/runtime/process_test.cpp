// SPDX-License-Identifier: Apache-2.0
// Whether a process lives is told from /proc, not from its number alone.
#include "runtime/process.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fstream>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tollbar;

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
