// SPDX-License-Identifier: Apache-2.0
#include "communicator/fiber.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using tollbar::detail::Fiber;

TEST_CASE("work goes on where it has yielded, and is over once") {
    std::vector<std::string> done;
    Fiber fiber([&] {
        done.emplace_back("first");
        fiber.yield();
        done.emplace_back("second");
    });
    CHECK(done.empty());
    CHECK_FALSE(fiber.resume());
    CHECK(done == std::vector<std::string>{"first"});
    CHECK(fiber.resume());
    CHECK(fiber.resume());
    CHECK(done == std::vector<std::string>{"first", "second"});
}

TEST_CASE("one's work resumes another's, as the progress of an MPI may inside a wait") {
    std::string order;
    Fiber inner([&] {
        order += 'b';
        inner.yield();
        order += 'd';
    });
    Fiber outer([&] {
        order += 'a';
        inner.resume();
        order += 'c';
        outer.yield();
        inner.resume();
        order += 'e';
    });
    CHECK_FALSE(outer.resume());
    CHECK(outer.resume());
    CHECK(order == "abcde");
}

TEST_CASE("exceptions stay within, whichever thread goes on") {
    std::string caught;
    Fiber fiber([&] {
        for (const char* text : {"one", "two"}) {
            try {
                throw std::runtime_error(text);
            } catch (const std::exception& error) {
                caught += error.what();
            }
            fiber.yield();
        }
    });
    CHECK_FALSE(fiber.resume());
    bool over = true;
    std::thread([&] { over = fiber.resume(); }).join();
    CHECK_FALSE(over);
    CHECK(fiber.resume());
    CHECK(caught == "onetwo");
}

TEST_CASE("work may use a stack as deep as an MPI's calls, and may be abandoned") {
    const auto fiber = std::make_unique<Fiber>([] {});
    int sum = 0;
    Fiber deep([&] {
        volatile char room[512 * 1024];
        room[0] = 1;
        room[sizeof room - 1] = 2;
        deep.yield();
        sum = room[0] + room[sizeof room - 1];
    });
    CHECK_FALSE(deep.resume());
    CHECK(deep.resume());
    CHECK(sum == 3);
    Fiber abandoned([&] { abandoned.yield(); });
    CHECK_FALSE(abandoned.resume());
}
