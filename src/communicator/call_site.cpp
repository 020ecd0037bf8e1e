// SPDX-License-Identifier: Apache-2.0
// Reads /proc/PID/maps, and walks the own stack.
#include "call_site.hpp"

#include "participant.h"

#include "base/files.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <dlfcn.h>
#include <execinfo.h>
#include <string>
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
    for (const std::string& line : lines_of("/proc/" + std::to_string(process) + "/maps")) {
        std::uint64_t begin = 0, end = 0, offset = 0;
        int name = 0;
        std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &begin, &end, &offset, &name);
        const std::string file = line.substr(static_cast<std::size_t>(name));
        if (address >= begin && address < end)
            return {.file = file.substr(0, file.find(' ')), .offset = address - begin + offset};
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
