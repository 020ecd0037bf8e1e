// SPDX-License-Identifier: Apache-2.0
// How many CPUs there are for us: affinity masks, cgroup quotas, and who shares a CPU.
#pragma once

#include <tollbar/detail/waiting.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>

#pragma GCC visibility push(default)
namespace tollbar::detail {

/// A set of CPUs, as sched_getaffinity(2) gives it; the first 1024 CPUs.
struct CpuSet {
    std::array<std::uint64_t, 16> bits{};

    std::uint32_t count() const noexcept;
    std::uint32_t below(std::uint32_t cpu) const noexcept;  ///< how many have a smaller number
    bool within(const CpuSet& other) const noexcept;
    CpuSet operator|(const CpuSet& other) const noexcept;
    friend bool operator==(const CpuSet&, const CpuSet&) = default;
};

/// The CPUs the calling thread may run on.
CpuSet affinity() noexcept;

/// CPUs' worth of time the cgroup grants this process (v2 cpu.max, v1 cpu.cfs_quota_us; the tightest ancestor
/// decides); infinite when there is no quota. Read afresh at every call, from the files below `root` (for tests):
/// root/proc/self/cgroup and root/sys/fs/cgroup.
double cpu_quota(const std::string& root = "");

/// cpu_quota() rounded down but at least 1; UINT32_MAX when there is no quota.
std::uint32_t quota_cpus(const std::string& root = "");

/// The affinity mask this process was started with.
const CpuSet& masked() noexcept;

/// How many CPUs it has; at least 1.
std::uint32_t masked_cpus() noexcept;

/// CPUs this process may use: the smaller of masked_cpus() and quota_cpus(); at least 1.
/// Cached; looks again at most every 100 ms, and only when called.
std::uint32_t usable_cpus() noexcept;

/// The CPUs of one participant.
struct Standing {
    CpuSet cpus;
};

/// The calling thread's, read afresh.
Standing own_standing() noexcept;

/// Whether those participants can all run at the same time. Oversubscribed when more participants are confined to a set
/// of CPUs than it has. A quota does not count: who has used it up sleeps, and waiting in which way saves it is
/// learned.
Occupancy occupancy_of(std::span<const Standing> everybody);

}  // namespace tollbar::detail
#pragma GCC visibility pop
