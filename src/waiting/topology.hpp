// SPDX-License-Identifier: Apache-2.0
// The CPUs that are neighbours: those whose cores share the last-level cache, or about eight of them where many do.
#pragma once

#include "clusters.hpp"
#include <tollbar/detail/cpus.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tollbar::detail {

struct Topology {
    std::vector<std::uint16_t> of_cpu;   ///< by the CPU's number; 0 for CPUs that are not online
    std::vector<std::uint32_t> core_of;  ///< by the CPU's number: the first CPU of its core
    std::uint32_t count = 1;
    std::uint32_t cores = 8;      ///< of most clusters
    std::uint32_t one_word = 10;  ///< the most threads that one word serves best
    bool caches = false;          ///< each is what shares a last-level cache
};

/// From the files below root/sys/devices/system/cpu; one cluster where they say nothing. Threads of a core count once.
Topology read_topology(const std::string& root);

/// The clusters of this machine; read once a process.
const Topology& topology();

/// By the CPU's number: the group of its core, of the groups of the mask's clusters; 0 for CPUs outside the mask.
std::vector<std::uint16_t> groups_of_cpus(const Topology& topology, const CpuSet& mask);

/// The clusters of a mask's CPUs; one cluster of all CPUs where nothing is known of them.
Clusters clusters_of(const Topology& topology, const CpuSet& mask);

}  // namespace tollbar::detail
