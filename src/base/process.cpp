// SPDX-License-Identifier: Apache-2.0
// Reads /proc/PID/stat.
#include "process.hpp"

#include "files.hpp"
#include "kept_errno.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tollbar::detail {

namespace {

struct Life {
    bool running = false;
    std::uint64_t start = 0;  ///< in clock ticks since boot
};

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

Life life_of(pid_t process) noexcept {
    const c_door::KeptErrno kept;  // dead ones have no file
    std::array<char, 32> path{};
    // An emulator of another processor answers for its own process by that path's usual spelling, wrongly.
    std::snprintf(path.data(), path.size(), "/proc/./%d/stat", static_cast<int>(process));
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
    const char* state = field(3);
    const char* threads = field(20);
    const char* start = field(22);
    if (state == nullptr || threads == nullptr || start == nullptr) return {};
    // A main thread that has ended is a zombie while its process goes on with others.
    const bool ended = state[1] == 'Z' || state[1] == 'X';
    return {.running = !ended || std::strtol(threads, nullptr, 10) > 1, .start = std::strtoull(start, nullptr, 10)};
}

}  // namespace

std::uint64_t start_of(pid_t process) noexcept {
    const std::uint64_t counting = own_counting();
    const std::uint64_t start = counting == 0 ? 0 : life_of(process).start;
    return start == 0 ? 0 : counting | start;
}

bool is_running(pid_t process, std::uint64_t start) noexcept {
    const std::uint64_t counting = own_counting();
    if (counting == 0 || (start != 0 && (start & ~ticks_mask) != counting)) return true;
    const Life life = life_of(process);
    return life.running && (start == 0 || life.start == (start & ticks_mask));
}

}  // namespace tollbar::detail
