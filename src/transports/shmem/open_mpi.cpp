// SPDX-License-Identifier: Apache-2.0
// Looks up names of Open MPI's in the running program, and steps around its crash in shmem_finalize.
#include "open_mpi.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <tuple>

namespace tollbar::detail::shmem {

namespace {

template <class Function>
Function* found(const char* name) noexcept {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

using Advance = int (*)();

/// Open MPI before 4.1.6 unloads the library that holds a hook into free(), and calls the hook later
/// (open-mpi/ompi#11604). Without the hook nothing else changes: UCX has its own.
[[gnu::constructor]] void keep_finalize_from_crashing() {
    auto* version = found<int(char*, int*)>("MPI_Get_library_version");
    if (version == nullptr) return;
    constexpr std::size_t longest = 1024;
    std::array<char, longest> text{};
    int length = 0;
    version(text.data(), &length);
    int major = 0, minor = 0, release = 0;
    if (std::sscanf(text.data(), "Open MPI v%d.%d.%d", &major, &minor, &release) != 3) return;
    if (std::tuple(major, minor, release) >= std::tuple(4, 1, 6)) return;
    setenv("OMPI_MCA_opal_common_ucx_opal_mem_hooks", "0", 0);
}

}  // namespace

void make_progress() noexcept {
    static auto* const progress = found<void()>("opal_progress");
    if (progress != nullptr) progress();
}

bool progress_can_be_joined() noexcept { return found<int(Advance)>("opal_progress_register") != nullptr; }

void join_progress(Advance advance) noexcept {
    if (auto* join = found<int(Advance)>("opal_progress_register"); join != nullptr) join(advance);
}

void leave_progress(Advance advance) noexcept {
    if (auto* leave = found<int(Advance)>("opal_progress_unregister"); leave != nullptr) leave(advance);
}

}  // namespace tollbar::detail::shmem
