// SPDX-License-Identifier: Apache-2.0
// Leaves, for what the conformance suite of barriers (tests/doors/cxx) and the model checker do not see: how many there
// are, middle nodes, and who takes which ticket.
#include <tollbar/detail/cpus.hpp>
#include <tollbar/detail/leaves.hpp>
#include <tollbar/barrier.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

using Many = Leaves<NativeSync>;

constexpr auto nothing = [] {};

/// Counts yields, and runs on the CPU that a test says, where a yield takes no time.
struct Counting : NativeSync {
    static inline std::uint32_t on = 0;
    static inline int yields = 0;

    static std::uint32_t cpu() noexcept { return on; }
    static std::uint64_t ticks() noexcept { return 0; }
    static Neighbours& neighbours() noexcept {
        static Neighbours none;
        return none;
    }
    static void yield() noexcept {
        ++yields;
        NativeSync::yield();
    }
};

/// Stops a thread before its second release of a leaf until `goes_on`.
struct Stopping : Counting {
    static inline std::atomic<int> stores = 0;
    static inline std::atomic<bool> goes_on = false;

    template <class T>
    struct Atomic : std::atomic<T> {
        using std::atomic<T>::atomic;

        void store(T value, std::memory_order order) noexcept {
            if (++stores == 2)
                while (!goes_on) NativeSync::yield();
            std::atomic<T>::store(value, order);
        }
    };

    static void wake(const Atomic<std::uint64_t>&, std::uint32_t, Scope) noexcept {}
    template <class Deadline>
    static bool sleep_on(const Atomic<std::uint64_t>&, std::uint64_t, std::uint32_t, Scope, Deadline) noexcept {
        NativeSync::yield();
        return true;
    }
};

/// Passes with the first yield, or with the first sleep.
struct OnceItYields : Deadline {
    bool passed() const noexcept { return Counting::yields > 0; }
};

}  // namespace

TEST_CASE("a phase ends with its last ticket, whatever their number and the number of leaves") {
    for (const std::uint32_t places : {1U, 2U, 3U, 8U})
        for (std::uint64_t expected = 1; expected <= 70; ++expected) {
            CAPTURE(places);
            CAPTURE(expected);
            Many leaves(expected, places);
            int completions = 0;
            for (int phase = 1; phase <= 3; ++phase) {
                std::uint64_t first = 0;
                for (std::uint64_t arrival = 1; arrival <= expected; ++arrival) {
                    if (arrival > 1) REQUIRE_FALSE(leaves.reached(first));
                    const std::uint64_t ticket = leaves.arrive(1, [&] { ++completions; });
                    if (arrival == 1) first = ticket;
                }
                REQUIRE(leaves.reached(first));
                REQUIRE(completions == phase);
            }
        }
}

TEST_CASE("one arrival may take the places of several leaves") {
    Many leaves(20, 3);
    const std::uint64_t first = leaves.arrive(11, nothing);
    const std::uint64_t second = leaves.arrive(8, nothing);
    CHECK_FALSE(leaves.reached(first));
    CHECK_FALSE(leaves.reached(second));
    leaves.arrive(1, nothing);
    CHECK(leaves.reached(first));
    CHECK(leaves.reached(second));
}

TEST_CASE("the room of a phase is what it still expects") {
    for (const std::uint32_t places : {1U, 2U, 3U, 8U}) {
        CAPTURE(places);
        Many leaves(7, places);
        for (std::uint64_t staying = 7; staying > 1; --staying) {
            for (std::uint64_t room = staying; room > 1; --room) {
                CHECK(leaves.room() == room);
                leaves.arrive(1, nothing);
            }
            leaves.arrive_and_drop(nothing);
        }
        CHECK(leaves.room() == 1);
    }
}

TEST_CASE("those who leave take their leaves with them, down to the last one") {
    constexpr std::uint64_t expected = 23;
    Many leaves(expected, 2);
    for (std::uint64_t left = expected; left > 0; --left) {
        CAPTURE(left);
        std::uint64_t waiting = 0;
        for (std::uint64_t arrival = 1; arrival < left; ++arrival) waiting = leaves.arrive(1, nothing);
        if (left > 1) REQUIRE_FALSE(leaves.reached(waiting));
        leaves.arrive_and_drop(nothing);
        if (left > 1) REQUIRE(leaves.reached(waiting));
    }
}

TEST_CASE("half of them may leave at once") {
    Many leaves(40, 4);
    for (int arrival = 0; arrival < 19; ++arrival) leaves.arrive_and_drop(nothing);
    std::uint64_t ticket = 0;
    for (int arrival = 0; arrival < 21; ++arrival) ticket = leaves.arrive(1, nothing);
    REQUIRE(leaves.reached(ticket));
    for (int phase = 0; phase < 3; ++phase) {
        for (int arrival = 0; arrival < 20; ++arrival) ticket = leaves.arrive(1, nothing);
        CHECK_FALSE(leaves.reached(ticket));
        leaves.arrive(1, nothing);
        CHECK(leaves.reached(ticket));
    }
}

TEST_CASE("a wait at a leaf times out, and may be repeated") {
    Many leaves(2, 1);
    const std::uint64_t ticket = leaves.arrive(1, nothing);
    CHECK_FALSE(leaves.wait(ticket, {.spins = 0, .yields = 0}, deadline_after(std::chrono::milliseconds(2))));
    leaves.arrive(1, nothing);
    CHECK(leaves.wait(ticket, {.spins = 0, .yields = 0}, Never{}));
}

TEST_CASE("the last thread of a CPU spins, the others yield; and it yields too while threads stray") {
    Leaves<Counting> leaves(4, 2, LeafOf::cpu);
    const auto arrive_on = [&](std::uint32_t cpu) {
        Counting::on = cpu;
        return leaves.arrive(1, nothing);
    };
    const auto yields = [&](std::uint64_t ticket) {
        Counting::yields = 0;
        const OnceItYields deadline{deadline_after(std::chrono::milliseconds(1))};
        CHECK_FALSE(leaves.wait(ticket, {.spins = 0, .yields = most_yields}, deadline));
        return Counting::yields > 0;
    };
    const auto pass = [&] {
        for (const std::uint32_t cpu : {0U, 0U, 1U, 1U}) arrive_on(cpu);
    };
    for (int phase = 0; phase < 100; ++phase) pass();
    CHECK(yields(arrive_on(1)));
    CHECK_FALSE(yields(arrive_on(1)));
    CHECK(yields(arrive_on(0)));
    arrive_on(1);  // a stray: its leaf is full
    arrive_on(1);
    CHECK(yields(arrive_on(1)));
    for (int other = 0; other < 2; ++other) arrive_on(0);
    for (int phase = 0; phase < 100; ++phase) pass();
    arrive_on(0);
    CHECK_FALSE(yields(arrive_on(0)));
}

TEST_CASE("few threads, more than there are CPUs but not twice as many, and any number on one, meet at one word") {
    CHECK(leaves_for(1) == nullptr);
    CHECK(leaves_for(3) == nullptr);
    CHECK(leaves_for(masked_cpus() + 1) == nullptr);
    CHECK((leaves_for(2 * masked_cpus()) != nullptr) == (masked_cpus() > 1));
    CHECK(leaves_for(barrier<>::max()) == nullptr);
}

TEST_CASE("an arrival that no phase expects is one of the next phase, and nobody looks for its place for ever") {
    Many leaves(4, 2);
    leaves.arrive(5, nothing);
    CHECK(leaves.room() == 3);
    leaves.arrive(3, nothing);
    CHECK(leaves.room() == 4);
}

TEST_CASE("waits at abandoned leaves are over, and leaves that are reset are as new") {
    Many leaves(5, 2);
    const auto arrive = [&] { return leaves.arrive(1, nothing); };
    for (int round = 0; round < 3; ++round) {
        for (int arrival = 0; arrival < 5 * round; ++arrival) arrive();
        const std::uint64_t waiting = arrive();
        CHECK_FALSE(leaves.reached(waiting));
        leaves.abandon();
        leaves.abandon();
        CHECK(leaves.reached(waiting));
        for (int late = 0; late < 3; ++late) CHECK(leaves.reached(arrive()));
        leaves.reset();
        CHECK(leaves.room() == 5);
    }
}

TEST_CASE("leaves are abandoned after the release of the phase before") {
    Leaves<Stopping> leaves(2, 1, LeafOf::cpu);
    Stopping::on = 0;
    const std::uint64_t first = leaves.arrive(1, nothing);
    Stopping::on = 1;
    std::jthread last([&] { leaves.arrive(1, nothing); });
    while (!leaves.reached(first) || Stopping::stores < 2) NativeSync::yield();
    std::atomic<bool> is_abandoned = false;
    std::jthread leaving([&] {
        leaves.abandon();
        is_abandoned = true;
    });
    for (int looks = 0; looks < 100 && !is_abandoned; ++looks)  // one that does not wait is found out by that
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Stopping::goes_on = true;
    last.join();
    leaving.join();
    CHECK(leaves.reached(leaves.arrive(1, nothing)));
}

TEST_CASE("a barrier takes the memory that its page says") { CHECK(sizeof(barrier<>) <= 512); }
