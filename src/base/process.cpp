// SPDX-License-Identifier: Apache-2.0
// Reads /proc/PID/task/TID/stat, /proc/PID/maps and /proc/self/cgroup.
#include "process.hpp"

#include "files.hpp"
#include "fnv.hpp"
#include "kept_errno.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <span>
#include <sys/stat.h>
#include <unistd.h>

namespace tollbar::detail {

namespace {

/// The bits below the namespace in a start_of(); ticks would fill them after thousands of years.
constexpr unsigned ticks_bits = 44;
constexpr std::uint64_t ticks_mask = (std::uint64_t{1} << ticks_bits) - 1;

/// A number of our namespace of process numbers, where /proc shows that one; else 0.
std::uint64_t own_counting() noexcept {
    const c_door::KeptErrno kept;
    std::array<char, 16> self{};
    struct stat counting {};
    if (readlink("/proc/self", self.data(), self.size() - 1) <= 0 || std::atoi(self.data()) != getpid()) return 0;
    if (stat("/proc/self/ns/pid", &counting) != 0) return 0;
    return std::max<std::uint64_t>(counting.st_ino & (~std::uint64_t{0} >> ticks_bits), 1) << ticks_bits;
}

}  // namespace

Stat stat_of(pid_t process, pid_t thread) noexcept {
    const c_door::KeptErrno kept;  // dead ones have no file
    const NotCancelled not_cancelled;
    std::array<char, 64> path{};
    // An emulator of another processor answers for its own process by that path's usual spelling, wrongly.
    std::snprintf(path.data(), path.size(), "/proc/./%d/task/%d/stat", static_cast<int>(process),
                  static_cast<int>(thread == 0 ? process : thread));
    const File file(open(path.data(), O_RDONLY | O_CLOEXEC));
    std::array<char, 1024> text{};
    const ssize_t length = read(file.number(), text.data(), text.size() - 1);
    // The name in the second field may hold blanks and parentheses; the fields after it start at the last ')'.
    const char* after_name = length > 0 ? std::strrchr(text.data(), ')') : nullptr;
    const auto field = [&](int number) {  // as proc(5) numbers them
        const char* at = after_name;
        for (int i = 2; i < number && at != nullptr; ++i) at = std::strchr(at + 1, ' ');
        return at;
    };
    const char* const cpu = field(39);
    if (cpu == nullptr) return {};
    return {.state = field(3)[1],
            .parent = std::atoi(field(4)),
            .threads = std::atoi(field(20)),
            .start = std::strtoull(field(22), nullptr, 10),
            .cpu = std::atoi(cpu)};
}

std::uint64_t start_of(pid_t process) noexcept {
    const std::uint64_t counting = own_counting();
    const std::uint64_t start = counting == 0 ? 0 : stat_of(process).start;
    return start == 0 ? 0 : counting | start;
}

bool is_running(pid_t process, std::uint64_t start) noexcept {
    const std::uint64_t counting = own_counting();
    if (counting == 0 || (start != 0 && (start & ~ticks_mask) != counting)) return true;
    const Stat stat = stat_of(process);
    if (start != 0 && stat.start != (start & ticks_mask)) return false;
    // A main thread that has ended is a zombie while its process goes on with others.
    const bool ended = stat.state == 'Z' || stat.state == 'X' || stat.state == '?';
    return !ended || stat.threads > 1;
}

std::vector<Region> regions_of(pid_t process) {
    std::vector<Region> regions;
    const std::string number = process == 0 ? "self" : std::to_string(process);
    for (const std::string& line : lines_of("/proc/" + number + "/maps")) {
        Region region;
        char rights[5] = {}, device[16] = {};
        std::uint64_t inode = 0;
        int name = 0;
        if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %15s %" SCNu64 " %n", &region.begin,
                        &region.end, rights, &region.offset, device, &inode, &name) != 6)
            continue;
        region.readable = rights[0] == 'r';
        region.writable = rights[1] == 'w';
        region.shared = rights[3] == 's';
        region.file = std::string(device) + ":" + std::to_string(inode);
        region.name = line.substr(static_cast<std::size_t>(name));
        regions.push_back(region);
    }
    return regions;
}

const Region* region_at(const std::vector<Region>& regions, std::uint64_t address) noexcept {
    const auto above = std::ranges::upper_bound(regions, address, {}, &Region::end);
    return above != regions.end() && address >= above->begin ? &*above : nullptr;
}

std::uint8_t scheduler_group() noexcept {
    const c_door::KeptErrno kept;
    std::uint64_t hash = fnv_start;
    try {
        const std::string text = std::to_string(getsid(0)) + ' ' + contents_of("/proc/self/cgroup");
        hash = fnv1a(std::as_bytes(std::span(text)));
    } catch (const std::exception&) {  // no memory for a line
    }
    return static_cast<std::uint8_t>(1 + hash % 255);
}

}  // namespace tollbar::detail
