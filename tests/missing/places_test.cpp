// SPDX-License-Identifier: Apache-2.0
// A place is numbered as its linker has, in this process and in others.
#include "missing/places.hpp"

#include "base/files.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tollbar::detail;

namespace {

[[gnu::noinline]] int here() { return 1; }

const auto address = reinterpret_cast<std::uintptr_t>(&here);
const auto of_libc = reinterpret_cast<std::uintptr_t>(&std::getenv);

/// Calls of read(2) of this process; 0 where the kernel does not count.
long reads() {
    const std::string io = contents_of("/proc/self/io");
    const std::size_t at = io.find("syscr: ");
    return at == std::string::npos ? 0 : std::strtol(io.c_str() + at + 7, nullptr, 10);
}

}  // namespace

TEST_CASE("a place of this process is in its program, and has its build id and inode") {
    const CodePlace place = CodePlaces().of(0, address);
    CHECK(place.file.ends_with("_test"));
    CHECK(place.address < 1U << 30);
    CHECK(place.inode != 0);
    CHECK((place.build_id.empty() || place.build_id.size() >= 16));
    CHECK(place.raw().starts_with(place.file + "+0x"));
    CHECK(CodePlaces().of(getpid(), address).raw() == place.raw());
}

TEST_CASE("a place of another process of the same program is the same one") {
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    for (const std::uintptr_t code : {address, of_libc}) {
        const CodePlace own = CodePlaces().of(0, code), theirs = CodePlaces().of(child, code);
        CHECK(theirs.raw() == own.raw());
        CHECK(theirs.build_id == own.build_id);
        CHECK(theirs.inode == own.inode);
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    CHECK(CodePlaces().of(child, address).file.empty());  // nothing is known of one that is gone
}

TEST_CASE("the regions of a process are read once, however many places are asked for") {
    CodePlaces places;
    const std::string first = places.of(0, address).raw();
    const long before = reads();
    for (int i = 0; i < 100; ++i) CHECK(places.of(0, address).raw() == first);
    const long between = reads() - before;
    CHECK(between < 10);  // its own question is among them
}

TEST_CASE("a library that came after the first place is known") {
    CodePlaces places;
    places.of(0, address);
    void* const library = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    const auto code = reinterpret_cast<std::uintptr_t>(dlsym(library, "ns_get16"));
    CHECK(places.of(0, code).file.find("libresolv") != std::string::npos);
    CHECK(places.of(0, code).inode != 0);
    dlclose(library);
}

TEST_CASE("code without a file has the number that it has in memory") {
    void* const memory = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    const CodePlace place = CodePlaces().of(0, reinterpret_cast<std::uintptr_t>(memory));
    CHECK(place.file.empty());
    CHECK(place.raw().starts_with("0x"));
    Places places;
    CHECK(places.of(0, reinterpret_cast<std::uintptr_t>(memory)) == place.raw());
    CHECK_FALSE(places.learn(places_limit));
    munmap(memory, 4096);
}
