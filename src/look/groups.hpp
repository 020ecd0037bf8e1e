// SPDX-License-Identifier: Apache-2.0
// Named groups of tollbar on this machine: their records say who has arrived, without touching any process.
#pragma once

#include <tollbar/participant.hpp>

#include <string>
#include <vector>

namespace tollbar::look {

struct Group {
    std::string name;
    std::string plan;
    Rank ranks = 0;
    Episode episode = 0;          ///< the latest that anybody has entered
    std::vector<absent> missing;  ///< in that episode; empty before the first
    std::vector<absent> arrived;
};

/// The groups of this user that a living process belongs to.
std::vector<Group> groups();

}  // namespace tollbar::look
