// SPDX-License-Identifier: Apache-2.0
// The CPUs this process may use, and where its ranks run.
#include "cpus.hpp"

#include <sched.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>

namespace tollbar::bench {

namespace {

void allow(const std::vector<int>& cpus) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus) CPU_SET(static_cast<unsigned>(cpu), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        throw std::system_error(errno, std::generic_category(), "sched_setaffinity");
}

}  // namespace

std::vector<int> usable_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(static_cast<unsigned>(cpu), &set)) cpus.push_back(cpu);
    return cpus;
}

std::optional<double> cpu_quota() {
    double quota = 0;
    double period = 0;
    if (std::ifstream v2("/sys/fs/cgroup/cpu.max"); v2 >> quota >> period && period > 0) return quota / period;
    std::ifstream granted("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    std::ifstream every("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    if (granted >> quota && every >> period && quota > 0 && period > 0) return quota / period;
    return std::nullopt;
}

void pin_to(int cpu) { allow({cpu}); }

void Places::take(Rank rank) const {
    pin_to(cpus_[rank % cpus_.size()]);
    if (placement_ == Placement::free) allow(cpus_);
}

}  // namespace tollbar::bench
