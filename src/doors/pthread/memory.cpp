// SPDX-License-Identifier: Apache-2.0
// Reads /proc/self/maps: "7f0c-7f0d rw-s 00000000 00:01 1042    /dev/zero (deleted)" is shared and anonymous.
#include "questions.hpp"

#include "base/files.hpp"
#include "base/kept_errno.hpp"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

namespace tollbar::detail::pthread_door {

bool only_children_share(const void* address) noexcept {
    const c_door::KeptErrno kept;
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    try {
        for (const std::string& line : lines_of("/proc/self/maps")) {
            std::uintptr_t begin = 0, end = 0;
            char sharing = 0;
            if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*3c%c", &begin, &end, &sharing) != 3) continue;
            if (wanted < begin || wanted >= end) continue;
            return sharing == 'p' || line.ends_with(" /dev/zero (deleted)");
        }
    } catch (const std::exception&) {  // no memory for a line
    }
    return false;
}

}  // namespace tollbar::detail::pthread_door
