// SPDX-License-Identifier: Apache-2.0
// A place is numbered by the program headers that this process has in memory, else by those of the very file that the
// other process has mapped: a file may have been replaced since.
#include "places.hpp"

#include "base/beside.hpp"
#include "base/files.hpp"
#include "base/kept_errno.hpp"
#include "base/once.hpp"
#include "base/only_added.hpp"
#include "base/process.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <optional>
#include <span>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace tollbar::detail {

namespace {

constexpr const char* program = "tollbar-look";
constexpr const char* names_places = "--places";
constexpr int most_failures = 3;  ///< in a row; then nobody is asked any more
constexpr std::size_t most_at_once = 1024;

/// A file that this process has loaded, and a place in it.
struct Loaded {
    std::uint64_t wanted = 0;  ///< an address in memory
    std::uint64_t address = 0;
    std::string name{}, build_id{};
    bool found = false;
};

std::span<const ElfW(Phdr)> parts_of(const dl_phdr_info& file) { return {file.dlpi_phdr, file.dlpi_phnum}; }

/// The loaded part in which that many bytes are; nullptr: none.
const ElfW(Phdr) * part_at(const dl_phdr_info& file, std::uint64_t address, std::uint64_t bytes) {
    for (const ElfW(Phdr) & part : parts_of(file))
        if (part.p_type == PT_LOAD && address >= part.p_vaddr && address - part.p_vaddr + bytes <= part.p_memsz)
            return &part;
    return nullptr;
}

std::string build_id_of(const dl_phdr_info& file) {
    for (const ElfW(Phdr) & part : parts_of(file)) {
        const ElfW(Phdr)* const loaded = part_at(file, part.p_vaddr, part.p_memsz);
        if (part.p_type != PT_NOTE || loaded == nullptr || (loaded->p_flags & PF_R) == 0) continue;
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the dynamic linker tells where the file is
        const auto* const notes = reinterpret_cast<const unsigned char*>(file.dlpi_addr + part.p_vaddr);
        const std::size_t align = part.p_align == 8 ? 8 : 4;
        const auto padded = [&](std::size_t bytes) { return (bytes + align - 1) / align * align; };
        for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= part.p_memsz;) {
            ElfW(Nhdr) note{};
            std::memcpy(&note, notes + at, sizeof note);
            const std::size_t name = at + sizeof note, content = name + padded(note.n_namesz);
            if (content + note.n_descsz > part.p_memsz) break;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0) {
                std::string digits;
                for (std::size_t i = 0; i < note.n_descsz; ++i) {
                    std::array<char, 4> two{};
                    std::snprintf(two.data(), two.size(), "%02x", notes[content + i]);
                    digits += two.data();
                }
                return digits;
            }
            at = content + padded(note.n_descsz);
        }
    }
    return "";
}

int look_into(dl_phdr_info* file, std::size_t, void* found) {
    Loaded& loaded = *static_cast<Loaded*>(found);
    const std::uint64_t address = loaded.wanted - file->dlpi_addr;
    if (part_at(*file, address, 1) == nullptr) return 0;
    loaded.found = true;
    loaded.address = address;
    loaded.name = file->dlpi_name == nullptr ? "" : file->dlpi_name;
    loaded.build_id = build_id_of(*file);
    return 1;
}

/// By no lock that is held while a library's own code runs.
Loaded loaded_at(std::uint64_t address) {
    Loaded loaded{.wanted = address};
    dl_iterate_phdr(look_into, &loaded);
    return loaded;
}

std::string own_program() {
    std::array<char, 4096> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
    return length > 0 ? path.data() : program_invocation_name;
}

std::uint64_t inode_of(const Region& region) {
    return std::strtoull(region.file.c_str() + region.file.rfind(':') + 1, nullptr, 10);
}

std::string without_deleted(const std::string& name) { return name.substr(0, name.find(" (deleted)")); }

/// The files at which the file of a place may be found: tollbar-look takes the one that it is.
std::vector<std::string> files_of(pid_t process, const std::string& file) {
    const std::string folder = "/proc/" + std::to_string(process);
    if (process == getpid()) return {file, folder + "/exe"};
    return {folder + "/root" + file, folder + "/exe"};  // it may be in another mount namespace
}

/// The address at which the linker has put the byte at that offset of the file, by its program headers.
std::optional<std::uint64_t> linked_address(const std::string& path, std::uint64_t inode, std::uint64_t offset) {
    const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    ElfW(Ehdr) header{};
    if (!file || fstat(file.number(), &status) != 0 || status.st_ino != inode) return std::nullopt;
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

/// The same by the file's parts in this process's memory, if it has it too, as the ranks of one program have.
std::optional<Loaded> loaded_here(const std::vector<Region>& regions, const Region& theirs, std::uint64_t offset) {
    for (const Region& own : regions)
        if (own.file == theirs.file && own.name == theirs.name && offset >= own.offset &&
            offset - own.offset < own.end - own.begin)
            if (Loaded loaded = loaded_at(own.begin + offset - own.offset); loaded.found) return loaded;
    return std::nullopt;
}

/// The question to tollbar-look about a place; "" where it cannot know.
std::string question(pid_t process, const CodePlace& place) {
    if (place.file.find_first_of("\t\n") != std::string::npos) return "";
    if (place.file.empty() || (place.build_id.empty() && place.inode == 0)) return "";
    std::string text = in_hex(place.address) + "\t" + place.build_id + "\t" + std::to_string(place.inode);
    for (const std::string& file : files_of(process, place.file)) text += "\t" + file;
    return text + "\n";
}

struct Known {
    std::string place, text;
};

/// The places that this process knows: never destroyed, and without a lock.
constinit OnlyAdded<Known> known;
constinit std::atomic<int> failures{0};

std::string key_of(const CodePlace& place) {
    return place.raw() + " " + place.build_id + " " + std::to_string(place.inode);
}

}  // namespace

const Region* CodePlaces::region_of(pid_t process, std::uint64_t address) {
    std::vector<Region>& regions = regions_[process];
    const Region* region = region_at(regions, address);
    if (region == nullptr) region = region_at(regions = regions_of(process), address);
    return region != nullptr && region->name.starts_with('/') ? region : nullptr;
}

CodePlace CodePlaces::own(std::uint64_t address) {
    const Loaded loaded = loaded_at(address);
    if (!loaded.found) return {.address = address};
    CodePlace place{.file = loaded.name, .address = loaded.address, .build_id = loaded.build_id};
    if (const Region* const region = region_of(0, address)) {
        place.file = without_deleted(region->name);
        place.inode = inode_of(*region);
    }
    if (place.file.empty()) place.file = own_program();
    return place;
}

CodePlace CodePlaces::of(pid_t process, std::uint64_t address) {
    const c_door::KeptErrno kept;
    if (process == 0 || process == getpid()) return own(address);
    const Region* const region = region_of(process, address);
    if (region == nullptr) return {.address = address};
    const std::uint64_t offset = address - region->begin + region->offset;
    CodePlace place{.file = without_deleted(region->name), .inode = inode_of(*region)};
    if (regions_[0].empty()) regions_[0] = regions_of(0);
    if (const auto here = loaded_here(regions_[0], *region, offset)) {
        place.address = here->address;
        place.build_id = here->build_id;
        return place;
    }
    for (const std::string& file : files_of(process, place.file))
        if (const auto linked = linked_address(file, place.inode, offset)) {
            place.address = *linked;
            return place;
        }
    return {.address = address};
}

std::string Places::of(pid_t process, std::uint64_t address) {
    const CodePlace place = places_.of(process, address);
    const std::string key = key_of(place), asked = question(process == 0 ? getpid() : process, place);
    if (asked.empty()) return place.raw();
    if (const Known* const found = known.find([&](const Known& one) { return one.place == key; })) return found->text;
    const auto is_this = [&](const auto& one) { return one.key == key; };
    if (new_.size() < most_at_once && std::ranges::none_of(new_, is_this)) new_.push_back({key, asked, place.raw()});
    return place.raw();
}

bool Places::learn(std::chrono::milliseconds limit, const std::function<bool()>& goes_on) {
    static constinit Once<std::string> path;
    if (new_.empty() || failures.load(std::memory_order_relaxed) >= most_failures) return false;
    const std::string& found = path.get([] { return program_of_ours(program); });
    if (found.empty()) return false;
    std::string questions;
    for (const New& one : new_) questions += one.asked;
    bool went_on = true;
    const std::string answers = ask_beside(found, names_places, questions, new_.size(), limit,
                                           [&] { return went_on = goes_on(); });
    if (!went_on) {
        new_.clear();
        return false;
    }
    std::size_t at = 0, next = 0;
    bool any = false;
    for (std::size_t end = 0; next < new_.size() && (end = answers.find('\n', at)) != std::string::npos; ++next) {
        const New& one = new_[next];
        const std::string_view answer = std::string_view(answers).substr(at, end - at);
        const std::size_t tab = answer.find('\t');
        at = end + 1;
        if (tab == answer.npos) break;  // no answer of ours
        const std::string function(answer.substr(0, tab)), line(answer.substr(tab + 1));
        const std::string text = function.empty() ? one.raw : function + " (" + (line.empty() ? one.raw : line) + ")";
        any = known
                  .find_or_add([&](const Known& other) { return other.place == one.key; },
                               [&] {
                                   return Known{one.key, text};
                               })
                  .second ||
              any;
    }
    failures.store(next == new_.size() ? 0 : failures.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    new_.clear();
    return any;
}

}  // namespace tollbar::detail
