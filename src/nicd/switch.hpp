// SPDX-License-Identifier: Apache-2.0
// A switch made of this host's interfaces that counts arrivals itself.
#pragma once

#include "programs.hpp"

#include <string_view>
#include <vector>

namespace tollbar::nic {

class Switch {
public:
    /// `ports` are names with commas between; each has the far end of a cable to one host. Throws as NicPrograms does.
    Switch(std::string_view ports, Mode mode);

private:
    BpfObject object_;
    std::vector<File> links_;
};

}  // namespace tollbar::nic
