// SPDX-License-Identifier: Apache-2.0
// Every port is attached, and known to the program as one to send releases to.
#include "switch.hpp"

#include <string>

#include <bpf/bpf.h>
#include <net/if.h>

namespace tollbar::nic {

Switch::Switch(std::string_view ports, Mode mode) : object_(load("switch")) {
    for (std::uint32_t port = 0; !ports.empty(); ++port) {
        const std::size_t comma = std::min(ports.find(','), ports.size());
        const std::string name(ports.substr(0, comma));
        ports.remove_prefix(std::min(comma + 1, ports.size()));
        Mode own = mode;
        links_.push_back(attach_xdp(program(object_, "tally_up"), name, own));
        const std::uint32_t index = if_nametoindex(name.c_str());
        if (bpf_map_update_elem(map(object_, "ports"), &port, &index, BPF_ANY) != 0)
            throw_errno("the switch has no room for port " + name);
    }
}

}  // namespace tollbar::nic
