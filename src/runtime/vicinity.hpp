// SPDX-License-Identifier: Apache-2.0
// Which CPUs are neighbours: those whose cores share the last-level cache, or about eight of them where many do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tollbar {

struct Vicinities {
    std::vector<std::uint16_t> of_cpu;  ///< by the CPU's number; CPUs that are not online are nobody's neighbours: 0
    std::uint32_t count = 1;
    std::uint32_t cores = 8;      ///< of most vicinities
    std::uint32_t one_word = 10;  ///< one word serves so many threads as well as any: the cores of a cache of few
};

/// From the files below root/sys/devices/system/cpu; one vicinity where they say nothing. Threads of a core count once.
Vicinities read_vicinities(const std::string& root);

/// Those of this machine; read once a process.
const Vicinities& vicinities();

}  // namespace tollbar
