// SPDX-License-Identifier: Apache-2.0
// Which CPUs are neighbours: those whose cores share the last-level cache, or about eight of them where many do.
#pragma once

#include <tollbar/detail/clusters.hpp>
#include <tollbar/detail/crowding.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tollbar {

struct Vicinities {
    std::vector<std::uint16_t> of_cpu;   ///< by the CPU's number; CPUs that are not online are nobody's neighbours: 0
    std::vector<std::uint32_t> core_of;  ///< by the CPU's number: the first CPU of its core
    std::uint32_t count = 1;
    std::uint32_t cores = 8;      ///< of most vicinities
    std::uint32_t one_word = 10;  ///< one word serves so many threads as well as any: the cores of a cache of few
    bool caches = false;          ///< each is what shares a last-level cache
};

/// From the files below root/sys/devices/system/cpu; one vicinity where they say nothing. Threads of a core count once.
Vicinities read_vicinities(const std::string& root);

/// Those of this machine; read once a process.
const Vicinities& vicinities();

/// What the CPUs of a mask have of them; one of all where nothing is known of them.
Clusters clusters_of(const Vicinities& vicinities, const CpuSet& mask);

}  // namespace tollbar
