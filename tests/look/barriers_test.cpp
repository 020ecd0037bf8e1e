// SPDX-License-Identifier: Apache-2.0
// Memory that only looks like a barrier is none: each layout's own checks, on memory of this process.
#include "look/barriers.hpp"

#include "waiting/gate.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <linux/futex.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using namespace tollbar::look;

Address address(const void* object) { return reinterpret_cast<Address>(object); }

/// A thread of this process that waits for that word under such a frame.
Thread waiter(const void* word, const std::string& symbol, const std::string& module) {
    Thread thread;
    thread.process = thread.number = getpid();
    thread.state = 'S';
    thread.call = SYS_futex;
    thread.arguments = {address(word), FUTEX_WAIT_PRIVATE};
    Frame frame;
    frame.symbol = symbol;
    frame.module = module;
    thread.frames = {frame};
    return thread;
}

std::vector<Barrier> found(Thread thread) {
    find_barriers(Process(getpid()), thread);
    return thread.barriers;
}

/// in, current_round, count, shared, out
using Pthread = std::array<std::uint32_t, 5>;

std::vector<Barrier> in_pthread(const Pthread& barrier,
                                const std::string& symbol = "pthread_barrier_wait@@GLIBC_2.34") {
    return found(waiter(&barrier[1], symbol, "libc.so.6"));
}

/// Two lines of 16 words: total, generation; awaited, awaited_final in the second.
struct alignas(64) Libgomp {
    std::array<std::uint32_t, 32> words{};

    Libgomp(std::uint32_t total, std::uint32_t awaited, std::uint32_t awaited_final) {
        words[0] = total;
        words[16] = awaited;
        words[17] = awaited_final;
    }
};

std::vector<Barrier> in_libgomp(const Libgomp& barrier) { return found(waiter(&barrier.words[1], "", "libgomp.so.1")); }

}  // namespace

TEST_CASE("a pthread barrier's count is that of the round under way") {
    const auto barriers = in_pthread({11, 8, 4, 0, 8});
    REQUIRE(barriers.size() == 1);
    CHECK(barriers[0].arrived == 3);
    CHECK(barriers[0].expected == 4);
    CHECK(barriers[0].round == 8);
}

TEST_CASE("a futex without the frame of a barrier is none") { CHECK(in_pthread({11, 8, 4, 0, 8}, "sem_wait").empty()); }

TEST_CASE("a function that has the name of a barrier in its own is none") {
    for (const char* symbol : {"my_pthread_barrier_wait", "pthread_barrier_wait_all", "void go<pthread_barrier_wait>()",
                               "n::pthread_barrier_wait(int)", "f(pthread_barrier_wait*)"})
        CHECK(in_pthread({11, 8, 4, 0, 8}, symbol).empty());
    CHECK(in_pthread({11, 8, 4, 0, 8}, "__pthread_barrier_wait").size() == 1);
}

TEST_CASE("a thread under a function made for std::barrier is not taken for one that waits there") {
    const int word = 0;
    Thread joins = waiter(&word, "std::thread::join()", "libstdc++.so.6");
    joins.complete = true;
    const auto with = [&](const char* symbol) {
        joins.frames.resize(1);
        joins.frames.emplace_back().symbol = symbol;
        return needs_registers(Process(getpid()), joins);
    };
    CHECK(with("std::barrier<std::__empty_completion>::wait(std::barrier<>::arrival_token&&) const"));
    CHECK(
        with("void std::__atomic_wait_address<std::__barrier_phase_t, std::__tree_barrier<>::wait()::{lambda()#1}>"
             "(std::__barrier_phase_t const*, std::__tree_barrier<>::wait()::{lambda()#1})"));
    CHECK_FALSE(with("void go<std::barrier<std::__empty_completion> >(std::barrier<std::__empty_completion>&)"));
    CHECK_FALSE(
        with("std::thread::_State_impl<std::thread::_Invoker<std::tuple<go<std::barrier<std::__empty_completion> "
             ">(std::barrier<std::__empty_completion>&)::{lambda()#1}> > >::_M_run()"));
}

TEST_CASE("a pthread barrier with more arrivals than members is none") {
    CHECK(in_pthread({13, 8, 4, 0, 8}).empty());
    CHECK(in_pthread({7, 8, 4, 0, 8}).empty());
    CHECK(in_pthread({0, 0, 0, 0, 0}).empty());
}

TEST_CASE("libgomp counts arrivals in the middle and at the end of a region") {
    for (const Libgomp& barrier : {Libgomp(4, 1, 4), Libgomp(4, 4, 1)}) {
        const auto barriers = in_libgomp(barrier);
        REQUIRE(barriers.size() == 1);
        CHECK(barriers[0].arrived == 3);
        CHECK(barriers[0].expected == 4);
    }
}

TEST_CASE("a lock of libgomp's is no barrier") {
    CHECK(in_libgomp(Libgomp(4, 5, 0)).empty());
    CHECK(in_libgomp(Libgomp(0, 0, 0)).empty());
}

TEST_CASE("tollbar's own barrier in the place of pthread's is known by its number") {
    using tollbar::detail::NativeSync;
    const auto in_gate = [](const auto& gate, const std::string& module = "libtollbar_pthread.so") {
        return found(waiter(&gate, "", module));
    };
    const auto check = [&](auto& gate) {
        tollbar::detail::GateVisit<NativeSync> visit;
        const auto pass = [&] { gate.pass(visit, [](auto...) {}); };
        CHECK(in_gate(gate).empty());
        for (int passed = 0; passed < 11; ++passed) pass();
        const auto barriers = in_gate(gate);
        REQUIRE(barriers.size() == 1);
        CHECK(barriers[0].arrived == 3);
        CHECK(barriers[0].expected == 4);
        CHECK(barriers[0].round == 2);
        CHECK(in_gate(gate, "libc.so.6").empty());
        pass();
        CHECK(in_gate(gate).empty());
    };
    tollbar::detail::Gate<NativeSync, tollbar::Scope::process> of_threads(4);
    tollbar::detail::Gate<NativeSync, tollbar::Scope::shared> of_processes(4);
    check(of_threads);
    check(of_processes);
    CHECK(in_gate(std::array<std::uint64_t, 4>{11, 4}).empty());
}

TEST_CASE("Boost's barrier lies around its condition variable, and counts down") {
    struct Completion {
        Address functions;
        std::uint32_t members;
    };
    struct Boost {
        std::array<std::byte, 80> mutexes{};
        std::array<std::uint32_t, 12> condition{};
        std::uint32_t lacking, generation;
        Address completion;
    };
    const Completion completion{0, 4};
    const auto in_boost = [](const Boost& barrier, const std::string& symbol = "boost::barrier::wait()") {
        return found(waiter(&barrier.condition[10], symbol, "a.out"));
    };
    const auto barriers = in_boost({.lacking = 1, .generation = 6, .completion = address(&completion)});
    REQUIRE(barriers.size() == 1);
    CHECK(barriers[0].arrived == 3);
    CHECK(barriers[0].expected == 4);
    CHECK(barriers[0].round == 6);
    CHECK(in_boost({.lacking = 4, .generation = 6, .completion = address(&completion)}).empty());
    CHECK(in_boost({.lacking = 0, .generation = 6, .completion = address(&completion)}).empty());
    CHECK(in_boost({.lacking = 1, .generation = 6, .completion = 16}).empty());
    CHECK(in_boost({.lacking = 1, .generation = 6, .completion = address(&completion)}, "main").empty());
}

TEST_CASE("a waiter of libc++ that was awake is missed at the barrier, and at no other library's") {
    const auto at_barrier = [](const std::string& kind, std::int64_t arrived) {
        Thread thread;
        thread.barriers = {{kind, 64, arrived, 3, 0}};
        return thread;
    };
    const Thread one = at_barrier("std::barrier (libc++)", 2), elsewhere = at_barrier("boost::barrier", 2);
    CHECK(lacks_waiters_of_libcxx({one, Thread()}));
    CHECK_FALSE(lacks_waiters_of_libcxx({one, Thread(), one}));
    CHECK_FALSE(lacks_waiters_of_libcxx({elsewhere, Thread()}));
}
