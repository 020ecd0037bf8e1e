// SPDX-License-Identifier: Apache-2.0
// Walks the own stack for the call site of a barrier in a program.
#include "call_site.h"

#include <array>
#include <dlfcn.h>
#include <execinfo.h>
#include <string_view>

namespace {

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

const void* tollbar_mpi_call_site(void) {
    std::array<void*, 32> frames{};
    const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
    for (int i = 0; i < count; ++i)
        if (const void* frame = frames[static_cast<std::size_t>(i)]; is_the_programs(frame)) return frame;
    return nullptr;
}
