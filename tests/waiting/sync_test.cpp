// SPDX-License-Identifier: Apache-2.0
// Deadlines on every clock, however far away, the futex they end, and the fence that the kernel may refuse.
#include <tollbar/detail/cpus.hpp>
#include <tollbar/detail/sync.hpp>
#include <tollbar/detail/unranked.hpp>
#include <tollbar/detail/waiting.hpp>

#include "child.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <fstream>
#include <limits>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
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

/// Stands still unless it is told.
struct ScriptedClock {
    using duration = nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<ScriptedClock>;
    static inline duration time{0};
    static time_point now() noexcept { return time_point(time); }
};

}  // namespace

TEST_CASE("a deadline in the past has passed, however far in the past, and so has one that is no number") {
    CHECK(deadline_after(nanoseconds(-1)).passed());
    CHECK(deadline_after(nanoseconds::min()).passed());
    CHECK(deadline_after(hours::min()).passed());
    CHECK(deadline_after(duration<double>(-1e300)).passed());
    CHECK(deadline_after(duration<double>(std::numeric_limits<double>::quiet_NaN())).passed());
    CHECK(Deadline{on_steady_clock(time_point<steady_clock, duration<double>>(
                       duration<double>(std::numeric_limits<double>::quiet_NaN())))}
              .passed());
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

TEST_CASE("a point on another clock is ahead until that clock says so") {
    ScriptedClock::time = nanoseconds(1000);
    const ScriptedClock::time_point at{nanoseconds(1001)};
    while (!Deadline{on_steady_clock(at)}.passed()) {
    }
    CHECK(is_ahead(at));
    ScriptedClock::time = nanoseconds(1001);
    CHECK_FALSE(is_ahead(at));
    CHECK(is_ahead(time_point<ScriptedClock, hours>::max()));
    CHECK_FALSE(is_ahead(time_point<ScriptedClock, hours>::min()));
    CHECK(is_ahead(DaysClock::now() + DaysClock::duration(1)));
}

TEST_CASE("nobody sleeps on a word that has changed") {
    const std::atomic<std::uint64_t> word{7};
    for (const Scope scope : {Scope::process, Scope::shared}) {
        CHECK(NativeSync::sleep_on(word, 6, 1, scope, Never{}));
        CHECK(NativeSync::sleep_on(word, 6, 1, scope, deadline_after(1h)));
    }
}

TEST_CASE("a sleep with a deadline ends, and the one after it says so") {
    const std::atomic<std::uint64_t> word{7};
    for (const Scope scope : {Scope::process, Scope::shared}) {
        const Deadline deadline = deadline_after(1ms);
        while (NativeSync::sleep_on(word, 7, 1, scope, deadline)) {
        }
        CHECK(deadline.passed());
    }
}

namespace {

/// Has membarrier(2) fail from now on.
bool refuse_membarrier() {
    std::array<sock_filter, 4> filter{
        sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
        sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_membarrier},
        sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
        sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
    };
    const sock_fprog program{.len = filter.size(), .filter = filter.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// A machine whose fence is refused, and whose wakers so overlook every sleeper.
struct Overlooking : NativeSync {
    static bool heavy_fence(Scope) noexcept { return false; }
};

char state_of(pid_t thread) {
    std::string stat;
    std::getline(std::ifstream("/proc/self/task/" + std::to_string(thread) + "/stat"), stat);
    return stat.at(stat.rfind(')') + 2);
}

}  // namespace

TEST_CASE("a fence that the kernel refuses is none, and said to be none") {
    const testing::Outcome outcome = testing::in_child([] {
        const bool registered = NativeSync::register_for_heavy_fence();
        const bool before = NativeSync::heavy_fence(Scope::process) && NativeSync::heavy_fence(Scope::shared);
        if (!refuse_membarrier()) return;
        const bool after = NativeSync::heavy_fence(Scope::process) || NativeSync::heavy_fence(Scope::shared);
        if (!registered || !before || after) _exit(1);
    });
    CHECK(outcome.succeeded());
}

TEST_CASE("a sleeper whose fence is refused finds its word, though nobody wakes it") {
    Word<Overlooking> word{0};
    Sleepers<Overlooking> sleepers;
    std::atomic<pid_t> sleeper{0};
    std::thread thread([&] {
        sleeper.store(gettid());
        park(word, 1, sleepers, 0, Waking{.asymmetric = true}, Never{});
    });
    while (sleeper.load() == 0 || state_of(sleeper.load()) != 'S') std::this_thread::yield();
    word.store(1);
    thread.join();
    CHECK(sleepers.look(std::memory_order_relaxed) == 0);
}

TEST_CASE("a wake-up reaches those whom its mask names") {
    for (const Scope scope : {Scope::process, Scope::shared}) {
        std::atomic<std::uint64_t> word{7};
        std::array<std::atomic<int>, 2> awake{};
        std::atomic<bool> over{false};
        const auto sleeper = [&](std::uint32_t which) {
            while (!over.load()) {
                NativeSync::sleep_on(word, 7, 1U << which, scope, Never{});
                awake[which].fetch_add(1);
            }
        };
        std::array<std::thread, 4> threads;
        for (std::uint32_t i = 0; i < threads.size(); ++i) threads[i] = std::thread(sleeper, i % 2);
        while (awake[1].load() < 1000) NativeSync::wake(word, 2, scope);
        CHECK(awake[0].load() == 0);
        over.store(true);
        word.store(8);
        NativeSync::wake(word, NativeSync::everybody, scope);
        for (std::thread& thread : threads) thread.join();
    }
}

namespace {

std::atomic<int> masks_set{0};

void give_mask(pid_t thread, const CpuSet& mask) {
    REQUIRE(syscall(SYS_sched_setaffinity, thread, sizeof mask.bits, mask.bits.data()) == 0);
}

CpuSet mask_of(pid_t thread) {
    CpuSet mask;
    REQUIRE(sched_getaffinity(thread, sizeof mask.bits, reinterpret_cast<cpu_set_t*>(mask.bits.data())) == 0);
    return mask;
}

std::uint32_t first_of(const CpuSet& mask) {
    std::uint32_t cpu = 0;
    while ((mask.bits[cpu / 64] >> cpu % 64 & 1) == 0) ++cpu;
    return cpu;
}

std::uint32_t last_of(const CpuSet& mask) {
    std::uint32_t cpu = 64 * static_cast<std::uint32_t>(mask.bits.size()) - 1;
    while ((mask.bits[cpu / 64] >> cpu % 64 & 1) == 0) --cpu;
    return cpu;
}

}  // namespace

/// In place of the C library's, for all of this program.
extern "C" int sched_setaffinity(pid_t thread, std::size_t size, const cpu_set_t* mask) noexcept {
    ++masks_set;
    return static_cast<int>(syscall(SYS_sched_setaffinity, thread, size, mask));
}

TEST_CASE("threads that wait keep the masks that they are given meanwhile") {
    const CpuSet all = affinity();
    Unranked<NativeSync> meeting(2, nullptr);
    std::array<std::atomic<pid_t>, 2> numbers{};
    std::atomic<bool> over{false};
    std::vector<std::jthread> threads;
    for (std::atomic<pid_t>& number : numbers)
        threads.emplace_back([&] {
            number = gettid();
            number.notify_one();
            while (!over) meeting.arrive_and_wait([] {});
            meeting.arrive_and_drop([] {});
        });
    for (std::atomic<pid_t>& number : numbers) number.wait(0);
    int lost = 0;
    for (std::uint32_t pin = 0; pin < 400; ++pin) {
        CpuSet wanted = all;
        if (pin % 2 == 0) {
            wanted = {};
            const std::uint32_t cpu = pin % 4 == 0 ? first_of(all) : last_of(all);
            wanted.bits[cpu / 64] = std::uint64_t{1} << cpu % 64;
        }
        for (const pid_t number : numbers) give_mask(number, wanted);
        std::this_thread::sleep_for(500us);
        for (const pid_t number : numbers)
            if (mask_of(number) != wanted) ++lost;
    }
    over = true;
    CHECK(lost == 0);
    CHECK(masks_set == 0);
}
