// SPDX-License-Identifier: Apache-2.0
// Parses the files of /proc; each may vanish or change while it is read.
#include "process.hpp"

#include "base/files.hpp"
#include "base/process.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <linux/futex.h>
#include <map>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace tollbar::look {

namespace {

using detail::contents_of;

/// The number behind `name` in a file of lines "name : number"; nothing where it is not there.
std::optional<double> number_behind(const std::string& text, std::string_view name) {
    const auto at = text.find(name);
    const auto colon = at == std::string::npos ? at : text.find(':', at);
    if (colon == std::string::npos) return std::nullopt;
    return std::strtod(text.c_str() + colon + 1, nullptr);
}

/// When the thread of that folder ran last, in milliseconds of its CPU's clock; negative: unknown.
double last_ran(const std::string& folder) {
    return number_behind(contents_of(folder + "/sched"), "se.exec_start").value_or(-1);
}

/// The call that restart_syscall(2) goes on with, whose arguments it has: after a stop, as by Ctrl-Z or a debugger, it
/// stands for a sleep, a wait for a futex with a time-out, or poll, which is left as it is.
long restarted(const std::array<Address, 6>& a) {
    constexpr Address last_clock = 15, flags = FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME;
    const bool is_word = a[0] > last_clock && a[0] % sizeof(std::uint32_t) == 0 && a[3] != 0;
    if (is_word && ((a[1] & ~flags) == FUTEX_WAIT_BITSET || a[1] == FUTEX_WAIT_PRIVATE)) return SYS_futex;
    return a[0] <= last_clock && a[1] <= TIMER_ABSTIME ? SYS_clock_nanosleep : SYS_restart_syscall;
}

}  // namespace

void read_call(Thread& thread, const std::string& text) {
    if (text.starts_with("running")) {
        thread.call = Thread::runs;
        return;
    }
    auto& a = thread.arguments;
    long call = Thread::unreadable;
    const int fields = std::sscanf(
        text.c_str(),
        "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &call,
        &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &thread.stack_pointer, &thread.program_counter);
    if (fields == 3) {  // outside any system call: only stack pointer and program counter
        thread.stack_pointer = a[0];
        thread.program_counter = a[1];
        a = {};
        thread.call = Thread::in_user_code;
    } else if (fields == 9) {
        thread.call = call == SYS_restart_syscall ? restarted(a) : call;
    }
}

bool Thread::waits_for_futex() const {
    const auto operation = arguments[1] & static_cast<unsigned long>(FUTEX_CMD_MASK);
    return call == SYS_futex && (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET);
}

Process::Process(pid_t number)
    : number_(number), regions_(detail::regions_of(number)),
      memory_(open(("/proc/" + std::to_string(number) + "/mem").c_str(), O_RDONLY | O_CLOEXEC)) {}

std::vector<Thread> Process::threads() const {
    std::vector<Thread> threads;
    std::error_code gone;
    const std::string tasks = "/proc/" + std::to_string(number_) + "/task";
    for (const auto& entry : std::filesystem::directory_iterator(tasks, gone)) {
        const std::string folder = entry.path().string();
        Thread thread;
        thread.process = number_;
        thread.number = std::atoi(entry.path().filename().c_str());
        const detail::Stat stat = detail::stat_of(number_, thread.number);
        thread.state = stat.state;
        thread.cpu = stat.cpu;
        if (thread.state == 'Z' || thread.state == 'X' || thread.state == '?') continue;
        const std::string name = contents_of(folder + "/comm");
        thread.name = name.substr(0, name.rfind('\n'));
        read_call(thread, contents_of(folder + "/syscall"));
        const std::string status = contents_of(folder + "/status");
        for (const std::string_view kind : {"\nvoluntary_ctxt_switches", "\nnonvoluntary_ctxt_switches"})
            thread.switches += static_cast<std::uint64_t>(number_behind(status, kind).value_or(0));
        thread.last_ran_ms = last_ran(folder);
        threads.push_back(thread);
    }
    std::ranges::sort(threads, {}, &Thread::number);
    return threads;
}

void Process::copy_stack(Thread& thread, std::size_t most) const {
    const detail::Region* const region = region_at(regions_, thread.stack_pointer);
    if (region == nullptr) return;
    thread.stack.resize(std::min<std::size_t>(most, region->end - thread.stack_pointer));
    if (!read(thread.stack_pointer, thread.stack)) thread.stack.clear();
}

bool Process::read(Address from, std::span<std::byte> to) const {
    const iovec here{to.data(), to.size()};
    const iovec there{std::bit_cast<void*>(from), to.size()};
    const ssize_t got = process_vm_readv(number_, &here, 1, &there, 1, 0);
    if (got >= 0 || (errno != EPERM && errno != ENOSYS)) return got == static_cast<ssize_t>(to.size());
    const ssize_t second = pread(memory_.number(), to.data(), to.size(), static_cast<off_t>(from));
    return second == static_cast<ssize_t>(to.size());
}

void Process::warm_up() const {
    const auto stack = std::ranges::find(regions_, "[stack]", &detail::Region::name);
    if (stack != regions_.end()) get<Address>(stack->end - sizeof(Address));
}

bool Process::writable(Address at, std::size_t bytes) const {
    const detail::Region* const region = region_at(regions_, at);
    return region != nullptr && region->readable && region->writable && bytes <= region->end - at;
}

std::string Process::file(Address at) const {
    const detail::Region* const region = region_at(regions_, at);
    return region == nullptr ? "" : region->name;
}

bool Process::is_file(Address at, std::uint64_t inode) const {
    const detail::Region* const region = region_at(regions_, at);
    return region != nullptr && region->file.substr(region->file.rfind(':') + 1) == std::to_string(inode);
}

std::string Process::bounds(Address at) const {
    const detail::Region* const region = region_at(regions_, at);
    std::array<char, 40> text{};
    if (region != nullptr) std::snprintf(text.data(), text.size(), "%" PRIx64 "-%" PRIx64, region->begin, region->end);
    return text.data();
}

std::string Process::place_in_file(Address at) const {
    const detail::Region* const region = region_at(regions_, at);
    if (region == nullptr || !region->name.starts_with('/')) return "";
    return region->file + ":" + std::to_string(at - region->begin + region->offset);
}

std::string Process::key(Address at) const {
    const detail::Region* const region = region_at(regions_, at);
    if (region != nullptr && region->shared) {
        return region->file + ":" + std::to_string(at - region->begin + region->offset);
    }
    return std::to_string(number_) + ":" + std::to_string(at);
}

void measure_sleep(std::span<Thread> threads) {
    cpu_set_t before;
    if (sched_getaffinity(0, sizeof before, &before) != 0) return;
    std::map<int, double> clocks;
    for (Thread& thread : threads) {
        if (thread.last_ran_ms < 0 || thread.cpu < 0 || thread.cpu >= CPU_SETSIZE || thread.state == 'R') continue;
        if (!clocks.contains(thread.cpu)) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(thread.cpu, &one);
            const bool there = sched_setaffinity(0, sizeof one, &one) == 0;
            clocks[thread.cpu] = there ? last_ran("/proc/thread-self") : -1;
        }
        if (const double clock = clocks[thread.cpu]; clock >= 0)
            thread.asleep_ms = std::max(0.0, clock - thread.last_ran_ms);
    }
    sched_setaffinity(0, sizeof before, &before);
}

}  // namespace tollbar::look
