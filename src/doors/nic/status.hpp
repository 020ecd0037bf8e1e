// SPDX-License-Identifier: Apache-2.0
// What the daemon holds, as JSON.
#pragma once

#include "card.hpp"

#include <string>
#include <vector>

#include <sys/types.h>

namespace tollbar::nic {

struct Held {
    uid_t user;
    pid_t process;
    const File* group;
};

std::string status_text(const Card& card, const std::vector<Held>& held, std::size_t departed);

}  // namespace tollbar::nic
