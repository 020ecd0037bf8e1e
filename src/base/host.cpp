// SPDX-License-Identifier: Apache-2.0
// The kernel is asked once for each.
#include "host.hpp"

#include "files.hpp"
#include "once.hpp"

#include <array>
#include <unistd.h>

namespace tollbar::detail {

const std::string& host_name() {
    static constinit Once<std::string> own;
    return own.get([] {
        std::array<char, 256> name{};
        gethostname(name.data(), name.size() - 1);
        return std::string(name.data());
    });
}

const std::string& kernel_boot() {
    static constinit Once<std::string> own;
    return own.get([] {
        const std::string id = contents_of("/proc/sys/kernel/random/boot_id");
        return id.substr(0, id.find('\n'));
    });
}

}  // namespace tollbar::detail
