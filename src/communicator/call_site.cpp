// SPDX-License-Identifier: Apache-2.0
// Reads /proc/PID/maps, and walks the own stack.
#include "call_site.hpp"

#include "participant.h"

#include <array>
#include <cstdio>
#include <dlfcn.h>
#include <execinfo.h>
#include <fstream>
#include <sstream>
#include <string_view>
#include <unistd.h>

namespace tollbar::detail::mpi {

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

/// Not of an MPI, and not tollbar's.
bool is_the_programs(const void* address) {
    Dl_info found{};
    if (dladdr(address, &found) == 0 || found.dli_fname == nullptr) return false;
    const std::string_view file = found.dli_fname;
    const std::string_view name = file.substr(file.rfind('/') + 1);
    for (const std::string_view start : {"libmpi", "libtollbar", "mca_coll_", "libopen-", "libmpich"})
        if (name.starts_with(start)) return false;
    return true;
}

}  // namespace

std::string call_site_in(pid_t process, std::uint64_t address) {
    const Mapped found = mapped(process, address);
    return found.file.empty() ? in_hex(address) : found.file + "+" + in_hex(found.offset);
}

std::string own_call_site() {
    const void* site = tollbar_mpi_call_site();
    return site == nullptr ? "an unknown place" : call_site_in(getpid(), reinterpret_cast<std::uintptr_t>(site));
}

}  // namespace tollbar::detail::mpi

const void* tollbar_mpi_call_site(void) {
    std::array<void*, 32> frames{};
    const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
    for (int i = 0; i < count; ++i)
        if (const void* frame = frames[static_cast<std::size_t>(i)]; tollbar::detail::mpi::is_the_programs(frame))
            return frame;
    return nullptr;
}
