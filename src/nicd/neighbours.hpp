// SPDX-License-Identifier: Apache-2.0
// Hardware addresses of hosts on the same network, as the kernel knows or finds them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tollbar::nic {

using Hardware = std::array<std::uint8_t, 6>;

/// The interface's own. Throws std::system_error.
Hardware own_hardware(const std::string& interface);

/// The interface's own, in network byte order. Throws std::system_error.
std::vector<std::uint32_t> own_addresses(const std::string& interface);

/// The neighbours of an interface that the kernel has found.
std::map<std::uint32_t, Hardware> neighbours(const std::string& interface);

/// Makes the kernel look for these. Answers come later.
void look_for(const std::string& interface, const std::vector<std::uint32_t>& addresses);

}  // namespace tollbar::nic
