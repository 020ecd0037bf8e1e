// SPDX-License-Identifier: Apache-2.0
// The clock on x86-64: the time stamp counter where it is invariant and the kernel trusts it, else CLOCK_MONOTONIC.
#include "clock.hpp"

#include <cpuid.h>
#include <x86intrin.h>

#include <ctime>
#include <fstream>
#include <string>

namespace tollbar::bench {

namespace {

Ticks monotonic() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<Ticks>(now.tv_sec) * 1'000'000'000 + static_cast<Ticks>(now.tv_nsec);
}

/// RDTSCP waits for all earlier instructions, so a predicted exit from a waiting loop cannot run ahead of it.
Ticks counter() noexcept {
    unsigned cpu = 0;
    return __rdtscp(&cpu);
}

bool has_invariant_counter() {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    const bool rdtscp = __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (d & (1U << 27)) != 0;
    const bool invariant = __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
    if (!rdtscp || !invariant) return false;
    // The kernel takes the counter off this list when it finds it running apart between CPUs.
    std::ifstream list("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    for (std::string source; list >> source;)
        if (source == "tsc") return true;
    return false;
}

struct Pair {
    Ticks counter;
    Ticks monotonic;
};

/// Both clocks at the same moment: the tightest of some tries.
Pair read_both() noexcept {
    Pair best{};
    Ticks narrowest = ~Ticks{0};
    for (int i = 0; i < 20; ++i) {
        const Ticks before = counter();
        const Ticks time = monotonic();
        const Ticks after = counter();
        if (after - before >= narrowest) continue;
        narrowest = after - before;
        best = {before + (after - before) / 2, time};
    }
    return best;
}

struct Clock {
    bool uses_counter = has_invariant_counter();
    double ns_a_tick = 1.0;
    Ticks apart = 2 * (uses_counter ? smallest_step(counter) : smallest_step(monotonic));

    Clock() {
        if (!uses_counter) return;
        const Pair first = read_both();
        const timespec pause{0, 20'000'000};
        nanosleep(&pause, nullptr);
        const Pair second = read_both();
        ns_a_tick = static_cast<double>(second.monotonic - first.monotonic) /
                    static_cast<double>(second.counter - first.counter);
    }
};

const Clock& clock() noexcept {
    static const Clock calibrated;
    return calibrated;
}

}  // namespace

Ticks ticks() noexcept { return clock().uses_counter ? counter() : monotonic(); }
double nanoseconds(Ticks span) noexcept { return static_cast<double>(span) * clock().ns_a_tick; }
Ticks ticks_of(double nanoseconds) noexcept { return static_cast<Ticks>(nanoseconds / clock().ns_a_tick); }
Ticks apart() noexcept { return clock().apart; }
std::string_view clock_name() noexcept { return clock().uses_counter ? "tsc" : "monotonic"; }

}  // namespace tollbar::bench
