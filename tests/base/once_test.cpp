// SPDX-License-Identifier: Apache-2.0
#include "base/once.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tollbar::detail;

TEST_CASE("what is found out once is found by the first caller and kept") {
    static constinit Once<int> once;
    CHECK(once.get([] { return 7; }) == 7);
    CHECK(once.get([] { return 8; }) == 7);
}

TEST_CASE("threads that ask at the same time have the same answer") {
    Once<int> once;
    std::atomic<int> next = 0;
    std::vector<const int*> answers(4);
    {
        std::vector<std::jthread> threads;
        for (const int*& answer : answers) threads.emplace_back([&] { answer = &once.get([&] { return ++next; }); });
    }
    for (const int* answer : answers) CHECK(answer == answers.front());
}

TEST_CASE("a child after fork does not wait for what another thread of its parent finds out") {
    Once<int> once;
    std::atomic<bool> begun = false, goes_on = false;
    std::jthread slow([&] {
        once.get([&] {
            begun = true;
            begun.notify_one();
            goes_on.wait(false);
            return 1;
        });
    });
    begun.wait(false);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);  // a child that waited would be ended
        _exit(once.get([] { return 2; }));
    }
    int status = 0;
    waitpid(child, &status, 0);
    goes_on = true;
    goes_on.notify_one();
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 2);
}
