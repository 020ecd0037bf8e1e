// SPDX-License-Identifier: Apache-2.0
// What tollbar::barrier has beyond std::barrier: try_wait, wait_for and wait_until (P2643).
#include <tollbar/barrier.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <ratio>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

/// A clock that goes at a tenth of the speed of the steady one.
struct SlowClock {
    using rep = std::int64_t;
    using period = std::nano;
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::time_point<SlowClock>;
    [[maybe_unused]] static constexpr bool is_steady = false;

    static time_point now() { return time_point(std::chrono::steady_clock::now().time_since_epoch() / 10); }
};

using Hours = std::chrono::hours;

}  // namespace

TEST_CASE("try_wait says whether the phase is over and never waits") {
    tollbar::barrier barrier(2);
    const auto token = barrier.arrive();
    CHECK_FALSE(barrier.try_wait(token));
    CHECK_FALSE(barrier.try_wait(token));
    static_cast<void>(barrier.arrive());
    CHECK(barrier.try_wait(token));
    CHECK(barrier.try_wait(token));
}

TEST_CASE("a wait that timed out may be repeated with the same token") {
    tollbar::barrier barrier(2);
    const auto token = barrier.arrive();
    CHECK_FALSE(barrier.wait_for(token, 1ms));
    CHECK_FALSE(barrier.wait_until(token, std::chrono::steady_clock::now() + 1ms));
    CHECK_FALSE(barrier.wait_until(token, std::chrono::system_clock::now() + 1ms));
    CHECK_FALSE(barrier.wait_for(token, 0s));
    static_cast<void>(barrier.arrive());
    CHECK(barrier.wait_for(token, 0s));
    CHECK(barrier.wait_for(token, Hours::max()));
}

TEST_CASE("a timed wait does not end early") {
    tollbar::barrier barrier(2);
    const auto token = barrier.arrive();
    for (const auto wait : {100us, 1500us, 20'000us}) {
        const auto before = std::chrono::steady_clock::now();
        CHECK_FALSE(barrier.wait_for(token, wait));
        CHECK(std::chrono::steady_clock::now() - before >= wait);
    }
    const auto at = std::chrono::time_point_cast<std::chrono::duration<double>>(std::chrono::steady_clock::now()) +
                    0.5ms;
    CHECK_FALSE(barrier.wait_until(token, at));
    CHECK(std::chrono::steady_clock::now() >= at);
}

TEST_CASE("a wait by another clock lasts until that clock says so") {
    tollbar::barrier barrier(2);
    const auto token = barrier.arrive();
    const auto at = SlowClock::now() + 1ms;
    CHECK_FALSE(barrier.wait_until(token, at));
    CHECK(SlowClock::now() >= at);
}

TEST_CASE("what lies in the past or far beyond the clock's range does not overflow") {
    using Steady = std::chrono::steady_clock;
    using System = std::chrono::system_clock;
    tollbar::barrier barrier(2);
    const auto token = barrier.arrive();

    CHECK_FALSE(barrier.wait_for(token, Hours::min()));
    CHECK_FALSE(barrier.wait_for(token, std::chrono::nanoseconds::min()));
    CHECK_FALSE(barrier.wait_for(token, std::chrono::duration<double>(-std::numeric_limits<double>::infinity())));
    CHECK_FALSE(barrier.wait_until(token, Steady::time_point::min()));
    CHECK_FALSE(barrier.wait_until(token, std::chrono::time_point<Steady, Hours>::min()));
    CHECK_FALSE(barrier.wait_until(token, System::time_point::min()));
    CHECK_FALSE(barrier.wait_until(token, std::chrono::time_point<System, Hours>::min()));

    const auto lasts = [&](auto wait) {  // until the other thread arrives
        tollbar::barrier pair(2);
        std::atomic<bool> waiting{false};
        std::jthread other([&] {
            while (!waiting) std::this_thread::yield();
            static_cast<void>(pair.arrive());
        });
        const auto mine = pair.arrive();
        waiting = true;
        return wait(pair, mine);
    };
    CHECK(lasts([](auto& pair, auto& mine) { return pair.wait_for(mine, Hours::max()); }));
    CHECK(lasts([](auto& pair, auto& mine) { return pair.wait_for(mine, std::chrono::nanoseconds::max()); }));
    CHECK(lasts([](auto& pair, auto& mine) {
        return pair.wait_for(mine, std::chrono::duration<double>(std::numeric_limits<double>::infinity()));
    }));
    CHECK(lasts([](auto& pair, auto& mine) { return pair.wait_until(mine, Steady::time_point::max()); }));
    CHECK(lasts(
        [](auto& pair, auto& mine) { return pair.wait_until(mine, std::chrono::time_point<Steady, Hours>::max()); }));
    CHECK(lasts([](auto& pair, auto& mine) { return pair.wait_until(mine, System::time_point::max()); }));
    CHECK(lasts(
        [](auto& pair, auto& mine) { return pair.wait_until(mine, std::chrono::time_point<System, Hours>::max()); }));
}

TEST_CASE("threads that wait in slices lose no phase and see all writes") {
    constexpr int threads = 4;
    constexpr int phases = 100;
    tollbar::barrier barrier(threads);
    std::vector<int> paid(threads), paid_before(threads);
    std::vector<int>* sets[] = {&paid_before, &paid};
    std::atomic<int> wrong{0};
    {
        std::vector<std::jthread> running;
        for (int rank = 0; rank < threads; ++rank)
            running.emplace_back([&, rank] {
                for (int phase = 1; phase <= phases; ++phase) {
                    std::vector<int>& set = *sets[phase % 2];
                    set[static_cast<std::size_t>(rank)] = phase;
                    const auto token = barrier.arrive();
                    while (!barrier.wait_for(token, 20us)) {
                    }
                    for (const int one : set) wrong += one != phase ? 1 : 0;
                }
            });
    }
    CHECK(wrong == 0);
}
