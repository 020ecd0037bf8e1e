// SPDX-License-Identifier: Apache-2.0
// Control groups of the cpu controller, made for a measurement and removed after it.
#pragma once

#include <tollbar/plan.hpp>

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <vector>

namespace tollbar::bench {

/// One group a rank, side by side, below the caller's own (v1) or the topmost one (v2). What programs that were
/// killed have left behind is removed first.
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

private:
    void remove() noexcept;

    std::vector<std::filesystem::path> folders_;
};

/// The nice value of the caller's autogroup, which is its session's; empty where the kernel has none.
std::optional<int> autogroup_nice();

/// Sets it, where there are autogroups and that is permitted.
void set_autogroup_nice(int nice);

}  // namespace tollbar::bench
