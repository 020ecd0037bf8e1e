// SPDX-License-Identifier: Apache-2.0
#include "transports/mpi/arena.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

std::uint64_t fresh_id() {
    static std::uint64_t next = std::uint64_t{std::random_device{}()} << 32;
    return ++next;
}

struct Opened {
    Opened() : id(fresh_id()), first(Arena::make(id)), second(Arena::open(id, first->descriptor())) {}

    std::uint64_t id;
    std::shared_ptr<Arena> first;
    std::shared_ptr<Arena> second;
};

}  // namespace

TEST_CASE("what one writes into a block the other finds there") {
    Opened arena;
    const Offset block = arena.first->take(100, 2);
    REQUIRE(block != 0);
    std::strcpy(reinterpret_cast<char*>(arena.first->at(block)), "toll");
    CHECK(std::string(reinterpret_cast<char*>(arena.second->at(block))) == "toll");
    CHECK(arena.first->at(block) != arena.second->at(block));
}

TEST_CASE("a block begins at a line") {
    Opened arena;
    for (const std::size_t bytes : {1UL, 5000UL, 70000UL}) CHECK(arena.first->take(bytes, 1) % line_bytes == 0);
}

TEST_CASE("no two blocks overlap") {
    Opened arena;
    std::set<std::pair<Offset, Offset>> taken;
    for (const std::size_t bytes : {10UL, 4096UL, 4000UL, 9000UL, 100000UL, 128UL}) {
        const Offset block = arena.first->take(bytes, 1);
        for (const auto& [begin, end] : taken) CHECK((block >= end || block + bytes <= begin));
        taken.insert({block, block + bytes});
    }
}

TEST_CASE("a block is used again after its last user gave it back, not before") {
    Opened arena;
    const Offset block = arena.first->take(5000, 2);
    arena.first->give_back(block);
    CHECK(arena.first->take(5000, 1) != block);
    arena.second->give_back(block);
    CHECK(arena.first->take(5000, 1) == block);
}

TEST_CASE("more than there is room for is refused") {
    Opened arena;
    CHECK(arena.first->take(std::size_t{1} << 40, 1) == 0);
    CHECK(arena.first->take(100, 1) != 0);
}

TEST_CASE("each reader finds a notice once, and its line on the board is free again after the last") {
    Opened arena;
    for (std::uint64_t ticket = 1; ticket < 1000; ++ticket) {
        REQUIRE(arena.first->post(ticket, 4 * ticket, 2));
        for (int reader = 0; reader < 2; ++reader) {
            Offset block = 0;
            REQUIRE(arena.second->look_up(ticket, block));
            REQUIRE(block == 4 * ticket);
        }
        Offset block = 0;
        REQUIRE_FALSE(arena.second->look_up(ticket, block));
    }
}

TEST_CASE("a full board is an answer") {
    Opened arena;
    std::uint64_t posted = 0;
    while (arena.first->post(posted + 1, 128, 1)) ++posted;
    CHECK(posted >= 64);
    Offset block = 0;
    CHECK(arena.second->look_up(posted, block));
    CHECK(arena.first->post(posted + 1, 128, 1));
}

TEST_CASE("takers in several threads get blocks of their own") {
    Opened arena;
    std::vector<std::vector<Offset>> taken(4);
    std::vector<std::thread> threads;
    for (auto& mine : taken)
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i) mine.push_back(arena.first->take(1000, 1));
        });
    for (std::thread& thread : threads) thread.join();
    std::set<Offset> all;
    for (const auto& mine : taken) all.insert(mine.begin(), mine.end());
    CHECK(all.size() == 800);
    CHECK(all.count(0) == 0);
}

TEST_CASE("blocks of every size are had up to the whole, and the file grows with them") {
    Opened arena;
    struct stat file {};
    const auto length = [&] {
        REQUIRE(fstat(arena.first->descriptor().number, &file) == 0);
        return static_cast<std::size_t>(file.st_size);
    };
    CHECK(length() < 64 << 10);
    std::size_t taken = 0;
    for (std::size_t bytes = 100; bytes < 16 << 20; bytes *= 2) {
        const Offset block = arena.first->take(bytes, 2);
        REQUIRE(block != 0);
        std::memset(arena.first->at(block), 7, bytes);
        CHECK(arena.second->at(block)[bytes - 1] == std::byte{7});
        taken += bytes;
    }
    CHECK(length() < 4 * taken);
}

TEST_CASE("a process that may make no larger files is refused, without a signal") {
    Opened arena;
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit limit{.rlim_cur = 1 << 20, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK(arena.first->take(100, 1) != 0);
    CHECK(arena.first->take(1 << 20, 1) == 0);
    CHECK(arena.first->take(100, 1) != 0);
    setrlimit(RLIMIT_FSIZE, &before);
}

TEST_CASE("what another job, or something else, has there is refused") {
    Opened arena;
    CHECK_THROWS_AS(Arena::open(arena.id + 1, arena.first->descriptor()), std::system_error);
    CHECK_THROWS_AS(Arena::open(arena.id, {.process = getpid(), .number = 0}), std::system_error);
    CHECK_THROWS_AS(Arena::open(arena.id, {.process = getpid(), .number = 999}), std::system_error);
}

TEST_CASE("nothing is in /dev/shm but what was given a name, until that is removed") {
    const std::uint64_t id = fresh_id();
    char name[64];
    std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(id));
    const auto there = [&] {
        for (const auto& file : std::filesystem::directory_iterator("/dev/shm"))
            if (file.path().string().find(name) != std::string::npos) return true;
        return false;
    };
    const auto arena = Arena::make(id);
    CHECK_FALSE(there());
    CHECK_THROWS_AS(Arena::open(id), std::system_error);
    arena->link();
    CHECK(there());
    CHECK(Arena::open(id)->id() == id);
    Arena::unlink(id);
    CHECK_FALSE(there());
    CHECK_THROWS_AS(Arena::open(id), std::system_error);
}
