// SPDX-License-Identifier: Apache-2.0
// A look as JSON.
#pragma once

#include "groups.hpp"
#include "process.hpp"

#include <string>
#include <vector>

namespace tollbar::look {

/// One moment of one process. The keys of its threads' barriers are those of Process::key.
struct Sight {
    const Process* process = nullptr;
    std::vector<Thread> threads;
};

struct Look {
    std::vector<Sight> processes;
    std::vector<SeenGroup> groups;
};

std::string to_json(const Look& look);

}  // namespace tollbar::look
