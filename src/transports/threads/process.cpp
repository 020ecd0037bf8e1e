// SPDX-License-Identifier: Apache-2.0
// Reads /proc/PID/stat.
#include "process.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace tollbar {

namespace {

struct Life {
    char state;  ///< '\0' when there is no such process
    std::uint64_t start;
};

Life life_of(pid_t process) noexcept {
    std::array<char, 32> path{};
    std::snprintf(path.data(), path.size(), "/proc/%d/stat", static_cast<int>(process));
    const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return {'\0', 0};
    std::array<char, 1024> text{};
    const ssize_t length = read(file, text.data(), text.size() - 1);
    close(file);
    // The name in the second field may hold blanks and parentheses; the fields after it start at the last ')'.
    const char* field = length > 0 ? std::strrchr(text.data(), ')') : nullptr;
    if (field == nullptr || field[1] == '\0') return {'\0', 0};
    const char state = field[2];
    constexpr int fields_to_start_time = 20;  // field 22 of the line, proc(5)
    for (int i = 0; i < fields_to_start_time && field != nullptr; ++i) field = std::strchr(field + 1, ' ');
    return {state, field == nullptr ? 0 : std::strtoull(field, nullptr, 10)};
}

}  // namespace

std::uint64_t start_of(pid_t process) noexcept { return life_of(process).start; }

bool is_running(pid_t process, std::uint64_t start) noexcept {
    const Life life = life_of(process);
    return life.state != '\0' && life.state != 'Z' && life.state != 'X' && life.start == start;
}

}  // namespace tollbar
