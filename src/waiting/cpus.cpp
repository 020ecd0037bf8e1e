// SPDX-License-Identifier: Apache-2.0
// Participants with a CPU of their own: affinity masks and cgroup quotas, read from the kernel.
#include <tollbar/detail/cpus.hpp>

#include "base/files.hpp"
#include "base/kept_errno.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sched.h>
#include <unistd.h>
#include <vector>

namespace tollbar::detail {

std::uint32_t CpuSet::count() const noexcept {
    int count = 0;
    for (const std::uint64_t word : bits) count += std::popcount(word);
    return static_cast<std::uint32_t>(count);
}

std::uint32_t CpuSet::below(std::uint32_t cpu) const noexcept {
    int count = 0;
    for (std::uint32_t i = 0; i < bits.size() && 64 * i < cpu; ++i)
        count += std::popcount(cpu - 64 * i < 64 ? bits[i] & ((std::uint64_t{1} << cpu % 64) - 1) : bits[i]);
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

/// One line of /proc/self/cgroup that may hold a CPU quota.
struct Membership {
    bool v2;
    std::string path;
};

std::vector<Membership> memberships(const std::string& root) {
    std::vector<Membership> found;
    for (const std::string& line : lines_of(root + "/proc/self/cgroup")) {
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
    const std::string text = v2 ? contents_of(folder + "/cpu.max")
                                : contents_of(folder + "/cpu.cfs_quota_us") +
                                      contents_of(folder + "/cpu.cfs_period_us");
    char* end = nullptr;
    const long quota = std::strtol(text.c_str(), &end, 10), period = std::strtol(end, nullptr, 10);
    return quota > 0 && period > 0 ? static_cast<double>(quota) / static_cast<double>(period)
                                   : std::numeric_limits<double>::infinity();
}

}  // namespace

double cpu_quota(const std::string& root) {
    double tightest = std::numeric_limits<double>::infinity();
    for (const Membership& membership : memberships(root)) {
        const auto mounts = membership.v2 ? std::array{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}
                                          : std::array{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
        for (std::string path = membership.path;; path.erase(path.rfind('/'))) {
            for (const char* mount : mounts) tightest = std::min(tightest, granted(membership.v2, root + mount + path));
            if (path.rfind('/') == std::string::npos) break;
        }
    }
    return tightest;
}

std::uint32_t quota_cpus(const std::string& root) {
    return static_cast<std::uint32_t>(std::clamp(std::floor(cpu_quota(root)), 1.0, static_cast<double>(UINT32_MAX)));
}

namespace {

const CpuSet at_start = affinity();
const std::uint32_t cpus_at_start = std::max<std::uint32_t>(1, at_start.count());

/// Monotonic time in milliseconds, at the price of a memory read.
std::uint64_t coarse_ms() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

}  // namespace

const CpuSet& masked() noexcept { return at_start; }

std::uint32_t masked_cpus() noexcept { return cpus_at_start; }

namespace {

std::uint32_t usable_cpus_now() noexcept {
    const c_door::KeptErrno kept;  // the kernel may have no cgroups
    try {
        return std::min(masked_cpus(), quota_cpus());
    } catch (...) {  // no memory for a file name: what the mask says
        return masked_cpus();
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

Standing own_standing() noexcept { return {.cpus = affinity()}; }

Occupancy occupancy_of(std::span<const Standing> everybody) {
    std::vector<CpuSet> masks;
    std::vector<CpuSet> regions;  // masks that overlap, taken together
    for (const Standing& one : everybody) {
        if (std::ranges::find(masks, one.cpus) != masks.end()) continue;
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
    masks.insert(masks.end(), regions.begin(), regions.end());

    const auto confined = [&](const CpuSet& mask) {
        return std::ranges::count_if(everybody, [&](const Standing& one) { return one.cpus.within(mask); });
    };
    const bool crowded = std::ranges::any_of(masks, [&](const CpuSet& mask) { return confined(mask) > mask.count(); });
    return crowded ? Occupancy::oversubscribed : Occupancy::exclusive;
}

}  // namespace tollbar::detail
