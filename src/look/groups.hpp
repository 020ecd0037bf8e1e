// SPDX-License-Identifier: Apache-2.0
// Groups of tollbar on this machine: their records say who has arrived, without touching any process.
#pragma once

#include <tollbar/detail/sync.hpp>
#include <tollbar/participant.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tollbar::look {

/// Memory for a copy of what lies in lines.
struct alignas(detail::line_bytes) LineCopy {
    std::byte bytes[detail::line_bytes];
};

struct SeenGroup {
    std::string name;  ///< empty: it has none, and is its processes' own
    std::string plan;
    Rank ranks = 0;
    Episode episode = 0;          ///< the latest that anybody has entered
    std::vector<absent> missing;  ///< in that episode; empty before the first
    std::vector<absent> arrived;
    std::string key = {};  ///< of one that was found in memory: Process::key
};

/// The state of a group that lies in that memory.
SeenGroup read_group(const detail::Segment& segment, const std::string& name);

/// The groups of this user that a living process belongs to.
std::vector<SeenGroup> groups();

}  // namespace tollbar::look
