// SPDX-License-Identifier: Apache-2.0
// Reads /proc/PID/maps, and walks the own stack when a report is due.
#include "call_site.hpp"

#include <array>
#include <cstdio>
#include <execinfo.h>
#include <fstream>
#include <sstream>
#include <string_view>
#include <unistd.h>

namespace tollbar::mpi {

namespace {

std::string in_hex(std::uint64_t number) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(number));
    return text.data();
}

struct Mapped {
    std::string file;
    std::uint64_t offset = 0;
};

/// The file an address is mapped from; no name when there is none.
Mapped mapped(pid_t process, std::uint64_t address) {
    std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
    for (std::string line; std::getline(maps, line);) {
        std::istringstream fields(line);
        std::uint64_t begin = 0, end = 0, offset = 0, inode = 0;
        char dash = 0;
        std::string rights, device, file;
        fields >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> std::dec >> inode >> file;
        if (address >= begin && address < end) return {.file = file, .offset = address - begin + offset};
    }
    return {};
}

bool belongs_to_us_or_the_mpi(std::string_view file) {
    const std::string_view name = file.substr(file.rfind('/') + 1);
    for (const std::string_view start : {"libmpi", "libtollbar", "mca_coll_", "libopen-", "libmpich"})
        if (name.starts_with(start)) return true;
    return false;
}

}  // namespace

std::string call_site_in(pid_t process, std::uint64_t address) {
    const Mapped place = mapped(process, address);
    return place.file.empty() ? in_hex(address) : place.file + "+" + in_hex(place.offset);
}

std::string own_call_site() {
    std::array<void*, 64> frames{};
    const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
    for (int i = 0; i < count; ++i) {
        const auto address = reinterpret_cast<std::uint64_t>(frames[static_cast<std::size_t>(i)]);
        const Mapped place = mapped(getpid(), address);
        if (!place.file.empty() && !belongs_to_us_or_the_mpi(place.file))
            return place.file + "+" + in_hex(place.offset);
    }
    return "an unknown place";
}

}  // namespace tollbar::mpi
