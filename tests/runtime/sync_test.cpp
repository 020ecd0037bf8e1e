// SPDX-License-Identifier: Apache-2.0
// Deadlines on every clock, however far away, and the futex they end.
#include <tollbar/detail/sync.hpp>

#include <doctest/doctest.h>

using namespace tollbar;
using namespace std::chrono;

namespace {

constexpr auto for_ever = steady_clock::time_point::max();

struct DaysClock {
    using duration = std::chrono::duration<std::int32_t, std::ratio<86400>>;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<DaysClock>;
    static time_point now() noexcept { return time_point(duration(20000)); }
};

}  // namespace

TEST_CASE("a deadline in the past has passed, however far in the past") {
    CHECK(deadline_after(nanoseconds(-1)).passed());
    CHECK(deadline_after(nanoseconds::min()).passed());
    CHECK(deadline_after(hours::min()).passed());
    CHECK(deadline_after(duration<double>(-1e300)).passed());
    CHECK(Deadline{on_steady_clock(steady_clock::time_point::min())}.passed());
    CHECK(Deadline{on_steady_clock(system_clock::time_point::min())}.passed());
    CHECK(Deadline{on_steady_clock(time_point<system_clock, hours>::min())}.passed());
    CHECK(Deadline{on_steady_clock(DaysClock::time_point::min())}.passed());
}

TEST_CASE("a deadline of no time passes at once") { CHECK(deadline_after(nanoseconds(0)).passed()); }

TEST_CASE("a deadline in more than a century never passes, however far away") {
    CHECK(deadline_after(nanoseconds::max()).at == for_ever);
    CHECK(deadline_after(hours::max()).at == for_ever);
    CHECK(deadline_after(duration<double>(1e300)).at == for_ever);
    CHECK(on_steady_clock(steady_clock::time_point::max()) == for_ever);
    CHECK(on_steady_clock(system_clock::time_point::max()) == for_ever);
    CHECK(on_steady_clock(time_point<steady_clock, hours>::max()) == for_ever);
    CHECK(on_steady_clock(DaysClock::time_point::max()) == for_ever);
}

TEST_CASE("a deadline is never early on any clock") {
    const auto before = steady_clock::now();
    CHECK(deadline_after(duration<double>(100.0)).at >= before + 100s);
    CHECK(on_steady_clock(before + 100s) >= before + 100s);
    CHECK(on_steady_clock(system_clock::now() + 100s) >= before + 99s);
    CHECK(on_steady_clock(DaysClock::now() + DaysClock::duration(1)) >= before + 24h);
    CHECK_FALSE(deadline_after(100s).passed());
}

TEST_CASE("nobody sleeps on a word that has changed") {
    const std::atomic<std::uint64_t> word{7};
    for (const Scope scope : {Scope::process, Scope::shared}) {
        CHECK(NativeSync::sleep_on(word, 6, scope, Never{}));
        CHECK(NativeSync::sleep_on(word, 6, scope, deadline_after(1h)));
    }
}

TEST_CASE("a sleep with a deadline ends, and the one after it says so") {
    const std::atomic<std::uint64_t> word{7};
    for (const Scope scope : {Scope::process, Scope::shared}) {
        const Deadline deadline = deadline_after(1ms);
        while (NativeSync::sleep_on(word, 7, scope, deadline)) {
        }
        CHECK(deadline.passed());
    }
}
