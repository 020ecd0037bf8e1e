// SPDX-License-Identifier: Apache-2.0
// A program beside the caller's answers, and the caller's process has nothing of it.
#include "base/beside.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <sys/prctl.h>
#include <sys/wait.h>

using namespace std::chrono_literals;
using tollbar::detail::ask_beside;

namespace {

volatile std::sig_atomic_t signals = 0;

std::ptrdiff_t descriptors() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

}  // namespace

TEST_CASE("a program gets the question and gives its answer") {
    CHECK(ask_beside("/bin/cat", "-", "one\ntwo\n", 2, 30s) == "one\ntwo\n");
    CHECK(ask_beside("/bin/cat", "-", "one", 2, 30s) == "one");
    CHECK(ask_beside("/bin/cat", "-", "", 1, 30s).empty());
}

TEST_CASE("a program that is not there, or cannot be run, has no answer") {
    CHECK(ask_beside("/nowhere/cat", "-", "one\n", 1, 30s).empty());
    CHECK(ask_beside("/etc/passwd", "-", "one\n", 1, 30s).empty());
}

TEST_CASE("a program that does not answer is left after the limit") {
    const auto begin = std::chrono::steady_clock::now();
    CHECK(ask_beside("/bin/sleep", "600", "", 1, 100ms).empty());
    CHECK(std::chrono::steady_clock::now() - begin < 300s);
}

TEST_CASE("a program that does not answer is left when the caller has something else to do") {
    int times = 0;
    CHECK(ask_beside("/bin/sleep", "600", "", 1, 60s, [&] { return ++times < 3; }).empty());
    CHECK(times == 3);
}

TEST_CASE("the process has no child, no signal and no descriptor more, and its errno") {
    std::signal(SIGCHLD, [](int) { signals = signals + 1; });
    const std::ptrdiff_t before = descriptors();
    errno = ENOTTY;
    CHECK(ask_beside("/bin/cat", "-", "one\n", 1, 30s) == "one\n");
    CHECK(errno == ENOTTY);
    CHECK(descriptors() == before);
    CHECK(waitpid(-1, nullptr, __WALL | WNOHANG) == -1);
    CHECK(errno == ECHILD);
    CHECK(signals == 0);
    std::signal(SIGCHLD, SIG_DFL);
}

TEST_CASE("a program has no variable of the process's, and no descriptor but its first three") {
    setenv("LD_PRELOAD", "/nowhere/tool.so", 1);
    CHECK(ask_beside("/usr/bin/env", "-0", "", 1, 30s).find("tool.so") == std::string::npos);
    unsetenv("LD_PRELOAD");
    const std::string there = ask_beside("/bin/ls", "/proc/self/fd", "", 4, 30s);
    CHECK(there == "0\n1\n2\n3\n");  // the last one is that of the folder
}

TEST_CASE("a process that inherits the children of others starts none") {
    REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
    CHECK(ask_beside("/bin/cat", "-", "one\n", 1, 30s).empty());
    REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0);
}
