// SPDX-License-Identifier: Apache-2.0
// Reads /proc/PID.
#include "doing.hpp"

#include "base/process.hpp"

#include <array>
#include <fstream>
#include <iterator>
#include <sys/syscall.h>
#include <utility>

namespace tollbar::detail::watch {

namespace {

/// Calls in which programs are found to wait.
constexpr std::pair<long, const char*> calls[] = {
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_futex, "futex"},
    {SYS_read, "read"},
    {SYS_write, "write"},
    {SYS_pread64, "pread64"},
    {SYS_pwrite64, "pwrite64"},
    {SYS_readv, "readv"},
    {SYS_writev, "writev"},
    {SYS_ppoll, "ppoll"},
    {SYS_pselect6, "pselect6"},
    {SYS_epoll_pwait, "epoll_pwait"},
    {SYS_recvfrom, "recvfrom"},
    {SYS_recvmsg, "recvmsg"},
    {SYS_sendto, "sendto"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_accept, "accept"},
    {SYS_accept4, "accept4"},
    {SYS_connect, "connect"},
    {SYS_wait4, "wait4"},
    {SYS_waitid, "waitid"},
    {SYS_flock, "flock"},
    {SYS_fcntl, "fcntl"},
    {SYS_fsync, "fsync"},
    {SYS_openat, "openat"},
    {SYS_semtimedop, "semtimedop"},
    {SYS_msgrcv, "msgrcv"},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait"},
#ifdef SYS_poll  // newer architectures have only the calls above
    {SYS_poll, "poll"},
    {SYS_select, "select"},
    {SYS_epoll_wait, "epoll_wait"},
    {SYS_pause, "pause"},
#endif
};

std::string contents(pid_t process, const char* file) {
    std::ifstream stream("/proc/" + std::to_string(process) + "/" + file);
    return std::string((std::istreambuf_iterator<char>(stream)), {});
}

std::string call_of(pid_t process) {
    const std::string text = contents(process, "syscall");
    char* end = nullptr;
    const long number = std::strtol(text.c_str(), &end, 10);
    if (end == text.c_str() || number < 0) return "";
    for (const auto& [known, name] : calls)
        if (known == number) return std::string(" in ") + name;
    return " in system call " + std::to_string(number);
}

}  // namespace

std::string doing(pid_t process, std::uint64_t start) {
    if (!is_running(process, start)) return "dead";
    const std::string stat = contents(process, "stat");
    const std::size_t after_name = stat.rfind(')');
    const char state = after_name == std::string::npos || after_name + 2 >= stat.size() ? '?' : stat[after_name + 2];
    if (state == 'R') return "running";
    if (state == 'T' || state == 't') return "stopped";
    return "asleep" + call_of(process);
}

}  // namespace tollbar::detail::watch
