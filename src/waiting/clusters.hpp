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

/// Neighbouring cores whose threads meet at a leaf (docs/design/leaves.md): about four, half of a cluster or all of a
/// few small ones.
struct CoreGroups {
    std::uint32_t of_a_cluster;        ///< how many: 2 where clusters have more than five cores, and more from 13 on
    std::uint32_t clusters;            ///< so many share a group where they have one core or two
    std::vector<std::uint32_t> cores;  ///< of each group; none in some where clusters differ in size
    std::vector<std::uint32_t> cpus;   ///< the same, with every thread of a core

    /// The group of a core, by the numbers of its cluster and of the core there, and how many cores are there, of those
    /// that may be used.
    std::uint32_t of(std::uint32_t cluster, std::uint32_t core, std::uint32_t cores_there) const noexcept;
};

CoreGroups groups_of(const Clusters& clusters);

/// The leaves of a barrier.
struct LeafShape {
    std::vector<std::uint32_t> sizes;  ///< of each, in threads
    std::uint32_t groups;              ///< so many neighbouring ones share a leaf
};

/// Leaves for `expected` threads, at most as many as CPUs. Each has as many as its cores, or CPUs, where there are as
/// many threads as these and no group is empty; otherwise all have as many as the largest group. More than 16 are as
/// large as clusters.
LeafShape leaves_of(std::uint64_t expected, const CoreGroups& groups);

}  // namespace tollbar::detail
