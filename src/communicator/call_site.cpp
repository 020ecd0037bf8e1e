// SPDX-License-Identifier: Apache-2.0
// Looks into the memory map of a process, and walks the own stack.
#include "call_site.hpp"

#include "participant.h"

#include "base/process.hpp"

#include <array>
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
    const std::vector<Region> regions = regions_of(process);
    const Region* const found = region_at(regions, address);
    if (found == nullptr || found->name.empty()) return in_hex(address);
    const std::string file = found->name.substr(0, found->name.find(' '));  // without " (deleted)"
    return file + "+" + in_hex(address - found->begin + found->offset);
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
