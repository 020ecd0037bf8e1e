// SPDX-License-Identifier: Apache-2.0
// The CPUs near each other, of those that a process may use.
#pragma once

#include <cstdint>
#include <vector>

namespace tollbar::detail {

/// CPUs whose cores share the last-level cache, or those of about eight neighbouring cores where many share one.
struct Cluster {
    std::uint32_t number;  ///< on the machine, neighbours side by side
    std::uint32_t cores;   ///< that may be used
    std::uint32_t cpus;    ///< the same, with every thread of a core

    friend bool operator==(const Cluster&, const Cluster&) = default;
};

struct Clusters {
    std::vector<Cluster> all;  ///< those of which a CPU may be used, by number
    bool caches = false;       ///< each has a last-level cache of its own
};

/// The clusters that this process might use when it began; hwloc and the kernel's files agree on them, and the files
/// are read, once a process.
const Clusters& usable_clusters();

}  // namespace tollbar::detail
