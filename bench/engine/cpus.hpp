// SPDX-License-Identifier: Apache-2.0
// The CPUs this process may use, and where its ranks run.
#pragma once

#include "options.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace tollbar::bench {

/// The calling thread's affinity mask, in ascending order; ask before pinning anything.
std::vector<int> usable_cpus();

/// How many CPUs' worth of time the cgroup (v2 or v1) grants; empty when it sets no limit.
std::optional<double> cpu_quota();

/// Lets the calling thread run on this CPU only. Throws std::system_error.
void pin_to(int cpu);

/// The CPUs on which ranks run.
class Places {
public:
    Places(Placement placement, std::vector<int> cpus) : placement_(placement), cpus_(std::move(cpus)) {}

    /// Puts the calling thread, which is `rank`, on usable CPU number rank mod C. In the free placement it only
    /// starts there and may be moved: two of a few threads that the kernel happens to have woken on one CPU would
    /// otherwise share it for all of a short batch. Throws std::system_error.
    void take(Rank rank) const;

private:
    Placement placement_;
    std::vector<int> cpus_;
};

}  // namespace tollbar::bench
