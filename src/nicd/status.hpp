// SPDX-License-Identifier: Apache-2.0
// What the daemon holds, as JSON.
#pragma once

#include "programs.hpp"

#include <string>
#include <vector>

#include <sys/types.h>

namespace tollbar::nic {

struct Held {
    uid_t user;
    pid_t process;
    const File* group;
};

/// `departed`: groups whose members are gone and still answered for; `most`: how many groups there may be.
std::string status_text(const NicPrograms& programs, const std::vector<Held>& held, std::size_t departed,
                        std::uint32_t most);

}  // namespace tollbar::nic
