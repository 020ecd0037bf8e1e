// SPDX-License-Identifier: Apache-2.0
// Control groups of the cpu controller, made for a measurement and removed after it.
#pragma once

#include <tollbar/plan.hpp>

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <vector>

namespace tollbar::bench {

/// One group a rank, side by side, below the caller's own (v1) or the topmost one (v2). Groups that
/// killed programs have left behind are removed first.
class CpuGroups {
public:
    /// Each group weighs as much as a session of that nice value, where that may be set.
    /// Throws std::runtime_error that says why groups cannot be had.
    CpuGroups(Rank ranks, int nice);

    /// Removes them; everybody inside must have ended.
    ~CpuGroups();
    CpuGroups(const CpuGroups&) = delete;
    CpuGroups& operator=(const CpuGroups&) = delete;

    /// Moves the calling process into the rank's group. Throws std::runtime_error.
    void enter(Rank rank) const;

    /// The same, for a process that did not make the groups: `maker` did, and has them yet.
    static void enter(pid_t maker, Rank rank);

    /// Grants the rank's group so many CPUs' worth of time in every 100 ms. Throws std::runtime_error.
    void limit(Rank rank, double cpus) const;

    /// Leaves them to the process that this one was forked from.
    void forget() noexcept { folders_.clear(); }

private:
    void remove() noexcept;

    std::vector<std::filesystem::path> folders_;
};

/// The nice value of the caller's autogroup, which is its session's; empty where the kernel has none.
std::optional<int> autogroup_nice();

/// Sets it, where there are autogroups and that is permitted.
void set_autogroup_nice(int nice);

/// Gives the calling process a session of its own, scheduled like the one that it leaves. Throws std::system_error.
void leave_session();

}  // namespace tollbar::bench
