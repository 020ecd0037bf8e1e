// SPDX-License-Identifier: Apache-2.0
#include "base/say.h"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <thread>
#include <unistd.h>

TEST_CASE("a reader of some kilobytes at a time gets whole lines where each awaits it") {
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    const int before = dup(STDERR_FILENO);
    std::string whole;
    int torn = 0;
    std::thread reader([&] {
        std::array<char, 4096> some;
        for (ssize_t got; (got = read(ends[0], some.data(), some.size())) > 0;) {
            whole.append(some.data(), static_cast<std::size_t>(got));
            torn += whole.back() != '\n' ? 1 : 0;
        }
    });
    dup2(ends[1], STDERR_FILENO);
    for (int line = 0; line < 1000; ++line) {
        tollbar_await_reader();
        const std::string text = "tollbar: " + std::string(490, 'x') + "\n";
        REQUIRE(write(STDERR_FILENO, text.data(), text.size()) == 500);
    }
    tollbar_await_reader();
    dup2(before, STDERR_FILENO);
    close(before);
    close(ends[1]);
    reader.join();
    close(ends[0]);
    CHECK(whole.size() == 500'000);
    CHECK(torn == 0);
}

TEST_CASE("whoever is not read goes on after a while, and no file is waited for") {
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    const int before = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    REQUIRE(write(STDERR_FILENO, "x", 1) == 1);
    tollbar_await_reader();
    dup2(before, STDERR_FILENO);
    for (const int one : {before, ends[0], ends[1]}) close(one);
    tollbar_await_reader();
}
