// SPDX-License-Identifier: Apache-2.0
// Looks into the memory map of a process, and walks the own stack.
#include "call_site.hpp"

#include "participant.h"

#include "base/files.hpp"
#include "base/process.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <optional>
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

/// The address at which the linker has put the byte at that offset of a file, by its program headers.
std::optional<std::uint64_t> linked_address(const std::string& path, std::uint64_t offset) {
    const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    ElfW(Ehdr) header{};
    if (pread(file.number(), &header, sizeof header, 0) != sizeof header) return std::nullopt;
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        ElfW(Phdr) part{};
        const auto at = static_cast<off_t>(header.e_phoff + i * header.e_phentsize);
        if (pread(file.number(), &part, sizeof part, at) != sizeof part) return std::nullopt;
        if (part.p_type == PT_LOAD && offset >= part.p_offset && offset - part.p_offset < part.p_filesz)
            return offset - part.p_offset + part.p_vaddr;
    }
    return std::nullopt;
}

}  // namespace

std::string call_site_in(pid_t process, std::uint64_t returns_to) {
    const std::uint64_t address = returns_to - 1;
    const std::vector<Region> regions = regions_of(process);
    const Region* const found = region_at(regions, address);
    if (found == nullptr || !found->name.starts_with('/')) return in_hex(address);
    const std::string file = found->name.substr(0, found->name.find(" (deleted)"));
    const std::string root = "/proc/" + std::to_string(process) + "/root";  // it may be in another mount namespace
    const auto linked = linked_address(root + file, address - found->begin + found->offset);
    return linked ? file + "+" + in_hex(*linked) : in_hex(address) + " of " + file;
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
