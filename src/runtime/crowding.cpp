// SPDX-License-Identifier: Apache-2.0
// Who has a CPU of their own: affinity masks, cgroup quotas and scheduler groups, read from the kernel.
#include <tollbar/detail/crowding.hpp>

#include "kept_errno.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <mutex>
#include <sched.h>
#include <unistd.h>
#include <vector>

namespace tollbar {

std::uint32_t CpuSet::count() const noexcept {
    int count = 0;
    for (const std::uint64_t word : bits) count += std::popcount(word);
    return static_cast<std::uint32_t>(count);
}

bool CpuSet::within(const CpuSet& other) const noexcept { return (*this | other) == other; }

CpuSet CpuSet::operator|(const CpuSet& other) const noexcept {
    CpuSet both = *this;
    for (std::size_t i = 0; i < bits.size(); ++i) both.bits[i] |= other.bits[i];
    return both;
}

CpuSet affinity() noexcept {
    CpuSet cpus;
    if (sched_getaffinity(0, sizeof cpus.bits, reinterpret_cast<cpu_set_t*>(cpus.bits.data())) != 0)
        cpus.bits[0] = 1;  // more CPUs than the kernel would tell us of in one set: claim the least
    return cpus;
}

namespace {

std::string first_line(const std::string& path) {
    std::string line;
    std::ifstream file(path);
    std::getline(file, line);
    return line;
}

/// One line of /proc/self/cgroup that may hold a CPU quota.
struct Membership {
    bool v2;
    std::string path;
};

std::vector<Membership> memberships(const std::string& root) {
    std::vector<Membership> found;
    std::ifstream file(root + "/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
        if (controllers == ",,") found.push_back({true, line.substr(second + 1)});
        if (controllers.find(",cpu,") != std::string::npos) found.push_back({false, line.substr(second + 1)});
    }
    return found;
}

/// CPUs that the cgroup of that folder grants; without end where it has no quota, which is -1 or "max".
double granted(bool v2, const std::string& folder) {
    std::int64_t quota = 0, period = 0;
    if (v2) {
        std::ifstream(folder + "/cpu.max") >> quota >> period;
    } else {
        std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
        std::ifstream(folder + "/cpu.cfs_period_us") >> period;
    }
    return quota > 0 && period > 0 ? static_cast<double>(quota) / static_cast<double>(period)
                                   : std::numeric_limits<double>::infinity();
}

}  // namespace

std::uint32_t quota_cpus(const std::string& root) {
    double tightest = UINT32_MAX;
    for (const Membership& membership : memberships(root)) {
        const auto mounts = membership.v2 ? std::array{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}
                                          : std::array{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
        for (std::string path = membership.path;; path.erase(path.rfind('/'))) {
            for (const char* mount : mounts) tightest = std::min(tightest, granted(membership.v2, root + mount + path));
            if (path.rfind('/') == std::string::npos) break;
        }
    }
    return static_cast<std::uint32_t>(std::max(1.0, std::floor(tightest)));
}

std::uint32_t quota_cpus() { return quota_cpus(""); }

std::uint64_t scheduler_group() {
    std::string group;
    for (const Membership& membership : memberships("")) group += membership.path + ';';
    if (group.find_first_not_of("/;") == std::string::npos) {  // the root: sessions are scheduled against each other
        const std::string session = first_line("/proc/self/autogroup");
        group += session.substr(0, session.find(' '));
    }
    return std::max<std::uint64_t>(std::hash<std::string>{}(group), 1);
}

namespace {

const CpuSet affinity_at_start = affinity();

/// Monotonic time in milliseconds, at the price of a memory read.
std::uint64_t coarse_ms() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

std::uint32_t usable_cpus_now() noexcept {
    const runtime::KeptErrno kept;  // the kernel may have no cgroups
    try {
        return std::max<std::uint32_t>(1, std::min(affinity_at_start.count(), quota_cpus()));
    } catch (...) {  // no memory for a file name: what the mask says
        return std::max<std::uint32_t>(1, affinity_at_start.count());
    }
}

}  // namespace

std::uint32_t usable_cpus() noexcept {
    static std::atomic<std::uint32_t> cached{0};
    static std::atomic<std::uint64_t> looked_ms{0};
    constexpr std::uint64_t good_for_ms = 100;

    const std::uint64_t now = coarse_ms();
    std::uint64_t before = looked_ms.load(std::memory_order_relaxed);
    const bool stale = cached.load(std::memory_order_relaxed) == 0 || now - before >= good_for_ms;
    // One caller at a time looks again; the others go on with what was known.
    if (stale && (looked_ms.compare_exchange_strong(before, now, std::memory_order_relaxed) ||
                  cached.load(std::memory_order_relaxed) == 0))
        cached.store(usable_cpus_now(), std::memory_order_relaxed);
    return cached.load(std::memory_order_relaxed);
}

Standing own_standing() {
    struct Known {
        pid_t process = 0;
        std::uint64_t looked_ms = 0;
        std::uint32_t quota = 0;
        std::uint64_t group = 0;
    };
    static Known known;
    static std::mutex mutex;
    constexpr std::uint64_t good_for_ms = 100;

    const std::lock_guard lock(mutex);
    const runtime::KeptErrno kept;
    const std::uint64_t now = coarse_ms();
    if (known.process != getpid() || now - known.looked_ms >= good_for_ms)
        known = {.process = getpid(), .looked_ms = now, .quota = quota_cpus(), .group = scheduler_group()};
    return {.cpus = affinity(), .quota = known.quota, .group = known.group};
}

Crowding crowding_of(std::span<const Standing> everybody) {
    std::vector<CpuSet> masks;
    std::vector<CpuSet> regions;   // masks that overlap, taken together
    std::vector<Standing> groups;  // one a scheduler group, with the tightest quota in it
    for (const Standing& one : everybody) {
        if (std::ranges::find(masks, one.cpus) == masks.end()) {
            masks.push_back(one.cpus);
            CpuSet region = one.cpus;
            std::erase_if(regions, [&](const CpuSet& other) {
                const CpuSet both = region | other;
                if (both.count() == region.count() + other.count()) return false;
                region = both;
                return true;
            });
            regions.push_back(region);
        }
        const auto group = std::ranges::find(groups, one.group, &Standing::group);
        if (group == groups.end()) {
            groups.push_back(one);
        } else {
            group->quota = std::min(group->quota, one.quota);
        }
    }
    masks.insert(masks.end(), regions.begin(), regions.end());

    const auto confined = [&](const CpuSet& mask) {
        return std::ranges::count_if(everybody, [&](const Standing& one) { return one.cpus.within(mask); });
    };
    const auto members = [&](std::uint64_t group) { return std::ranges::count(everybody, group, &Standing::group); };
    const bool crowded = std::ranges::any_of(masks,
                                             [&](const CpuSet& mask) { return confined(mask) > mask.count(); }) ||
                         std::ranges::any_of(groups,
                                             [&](const Standing& group) { return members(group.group) > group.quota; });
    return crowded ? Crowding::crowded : Crowding::roomy;
}

}  // namespace tollbar
