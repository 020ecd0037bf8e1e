// SPDX-License-Identifier: Apache-2.0
// Control groups of the cpu controller, made for a measurement and removed after it.
#pragma once

#include <tollbar/plan.hpp>

#include <filesystem>
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

private:
    void remove() noexcept;

    std::vector<std::filesystem::path> folders_;
};

}  // namespace tollbar::bench
