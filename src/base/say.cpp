// SPDX-License-Identifier: Apache-2.0
// A line is made in memory and written with one call.
#include "say.h"

#include "environment.hpp"
#include "files.hpp"
#include "kept_errno.hpp"
#include "not_cancelled.hpp"
#include "only_added.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using tollbar::detail::c_door::KeptErrno;

/// "tollbar: ...\n"; throws std::bad_alloc.
std::string line_of(const char* format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, again);
    va_end(again);
    std::string line(static_cast<std::size_t>(std::max(length, 0)) + 1, '\0');
    std::vsnprintf(line.data(), line.size(), format, arguments);
    line.pop_back();
    std::ranges::replace(line, '\n', ' ');
    return "tollbar: " + line + "\n";
}

/// The file behind descriptor 2 when this was loaded.
struct Stderr {
    Stderr() noexcept {
        const KeptErrno kept;
        is_open = fstat(STDERR_FILENO, &file) == 0;
    }

    bool is_open = false;
    struct stat file {};
};

const Stderr at_start;

/// A program that has closed its stderr may have another file as descriptor 2, in which a line of ours has no place:
/// it is for the file that was there at the start, for a terminal, and for a file that is only appended to, as logs
/// are.
bool is_for_lines(int descriptor) noexcept {
    struct stat now {};
    if (fstat(descriptor, &now) != 0) return false;
    const bool same = at_start.is_open && now.st_dev == at_start.file.st_dev && now.st_ino == at_start.file.st_ino;
    return same || (fcntl(descriptor, F_GETFL) & O_APPEND) != 0 || isatty(descriptor) != 0;
}

void write_to_stderr(const std::string& line) noexcept {
    if (!is_for_lines(STDERR_FILENO)) return;
    while (write(STDERR_FILENO, line.data(), line.size()) < 0 && errno == EINTR) continue;
}

/// False, with errno, when the file cannot be had.
bool append_to(const std::string& path, const std::string& line) {
    const tollbar::detail::File file(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
    return file && write(file.number(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

/// The file of `tollbar run`, which the job has by a descriptor and which has no name, so that a job reaches it
/// whoever it runs as. None for any other path; -1 where the program has closed it, and perhaps opened another file.
std::optional<int> descriptor_of_run(std::string_view path) {
    constexpr std::string_view before = "/proc/self/fd/", behind = "/tollbar-reports";
    if (!path.starts_with(before) || !path.ends_with(behind)) return std::nullopt;
    const std::string link(path.substr(0, path.size() - behind.size()));
    std::array<char, 64> file{};
    if (readlink(link.c_str(), file.data(), file.size() - 1) < 0) return -1;
    return std::string_view(file.data()) == "/memfd:tollbar-reports (deleted)" ? std::atoi(link.c_str() + before.size())
                                                                               : -1;
}

template <class Use>
void with_line(const char* format, va_list arguments, Use use) noexcept {
    const KeptErrno kept;
    const tollbar::detail::NotCancelled not_cancelled;
    try {
        use(line_of(format, arguments));
    } catch (const std::exception&) {  // no memory for the line: going on matters more
    }
}

/// False as well when there is no memory to keep the key in.
bool first_time(const char* key) noexcept {
    static constinit tollbar::detail::OnlyAdded<std::string> keys;
    try {
        return keys.find_or_add([&](const std::string& one) { return one == key; }, [&] { return std::string(key); })
            .second;
    } catch (const std::exception&) {
        return false;
    }
}

}  // namespace

void tollbar_say(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    with_line(format, arguments, write_to_stderr);
    va_end(arguments);
}

void tollbar_say_once(const char* key, const char* format, ...) {
    if (!first_time(key)) return;
    va_list arguments;
    va_start(arguments, format);
    with_line(format, arguments, write_to_stderr);
    va_end(arguments);
}

int tollbar_stderr_travels(void) {
    struct stat file {};
    if (!is_for_lines(STDERR_FILENO) || fstat(STDERR_FILENO, &file) != 0 || S_ISREG(file.st_mode)) return 0;
    return !S_ISCHR(file.st_mode) || isatty(STDERR_FILENO) != 0 ? 1 : 0;
}

void tollbar_await_reader() {
    constexpr timespec pause{.tv_sec = 0, .tv_nsec = 100'000};
    const KeptErrno kept;
    const tollbar::detail::NotCancelled not_cancelled;
    struct stat file {};
    if (fstat(STDERR_FILENO, &file) != 0 || !S_ISFIFO(file.st_mode)) return;
    int unread = 0;
    for (int looks = 0; looks < 1000 && ioctl(STDERR_FILENO, FIONREAD, &unread) == 0 && unread > 0; ++looks)
        nanosleep(&pause, nullptr);
}

void tollbar_report(const char* line, const char* for_run) {
    const KeptErrno kept;
    const tollbar::detail::NotCancelled not_cancelled;
    try {
        const auto whole = [](std::string text) {
            std::ranges::replace(text, '\n', ' ');
            return "tollbar: " + text + "\n";
        };
        const std::string text = whole(line), sealed = *for_run == '\0' ? text : whole(for_run);
        const std::string path = tollbar::detail::environment::report_file();
        const std::optional<int> of_run = descriptor_of_run(path);
        if (of_run && write(*of_run, sealed.data(), sealed.size()) == static_cast<ssize_t>(sealed.size())) return;
        if (!of_run && *for_run != '\0' && tollbar_stderr_travels() != 0) {
            write_to_stderr(sealed);
            return;
        }
        if (!path.empty() && !of_run) {
            if (append_to(path, text)) return;
            tollbar::detail::environment::refuse_report_file(std::strerror(errno));
        }
        write_to_stderr(text);
    } catch (const std::exception&) {  // no memory for the line: going on matters more
    }
}

void tollbar_refuse(const char* name, const char* value, const char* accepted, const char* fallback) {
    if (tollbar_first_of_job() == 0) return;
    tollbar_say_once(name, "%s is '%s'; accepted: %s; using the default, %s", name, value, accepted, fallback);
}
