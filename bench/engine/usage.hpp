// SPDX-License-Identifier: Apache-2.0
// The cost of a stretch of time to the process: CPU time and context switches.
#pragma once

#include <sys/resource.h>

#include <ctime>

namespace tollbar::bench {

struct Usage {
    double cpu_ns = 0;
    long voluntary = 0;
    long involuntary = 0;

    /// All threads together, since the process began.
    static Usage of_process() noexcept {
        rusage counted{};
        getrusage(RUSAGE_SELF, &counted);
        timespec cpu{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
        return {static_cast<double>(cpu.tv_sec) * 1e9 + static_cast<double>(cpu.tv_nsec), counted.ru_nvcsw,
                counted.ru_nivcsw};
    }

    friend Usage operator+(const Usage& one, const Usage& other) noexcept {
        return {one.cpu_ns + other.cpu_ns, one.voluntary + other.voluntary, one.involuntary + other.involuntary};
    }

    friend Usage operator-(const Usage& end, const Usage& begin) noexcept {
        return {end.cpu_ns - begin.cpu_ns, end.voluntary - begin.voluntary, end.involuntary - begin.involuntary};
    }
};

}  // namespace tollbar::bench
