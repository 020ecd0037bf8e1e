// SPDX-License-Identifier: Apache-2.0
#include "base/only_added.hpp"

#include "base/say.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tollbar::detail;

namespace {

auto is(int wanted) {
    return [=](int one) { return one == wanted; };
}

}  // namespace

TEST_CASE("a value is added once and found from then on") {
    static constinit OnlyAdded<int> all;
    CHECK(all.find(is(7)) == nullptr);
    const auto [first, is_new] = all.find_or_add(is(7), [] { return 7; });
    CHECK(is_new);
    const auto [again, is_new_again] = all.find_or_add(is(7), [] { return 7; });
    CHECK_FALSE(is_new_again);
    CHECK(&first == &again);
    CHECK(all.find(is(7)) == &first);
    CHECK(all.find(is(8)) == nullptr);
}

TEST_CASE("of threads that add the same values at the same time one adds each") {
    constexpr int values = 500;
    OnlyAdded<int> all;
    std::array<std::atomic<int>, values> added{};
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread)
            threads.emplace_back([&] {
                for (int value = 0; value < values; ++value)
                    if (all.find_or_add(is(value), [=] { return value; }).second)
                        ++added[static_cast<std::size_t>(value)];
            });
    }
    for (const std::atomic<int>& times : added) CHECK(times == 1);
}

TEST_CASE("a child after fork says a line once while threads of its parent do") {
    std::atomic<bool> over = false;
    std::vector<std::jthread> busy;
    for (int thread = 0; thread < 2; ++thread)
        busy.emplace_back([&] {
            while (!over) tollbar_say_once("known", "threads say this line once");
        });
    int hung = 0;
    for (int i = 0; i < 200; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(20);  // a child that waited would be ended
            tollbar_say_once("known", "threads say this line once");
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status)) ++hung;
    }
    over = true;
    CHECK(hung == 0);
}
