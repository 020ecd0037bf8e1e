// SPDX-License-Identifier: Apache-2.0
// A short-lived process, which ends without a signal and which only __WCLONE finds, starts the program, so that init
// inherits it. Both share this process's memory until the program is there, as vfork(2) does: so they call the kernel
// alone, and nothing that a sanitizer or a tool has taken over.
#include "beside.hpp"

#include "environment.hpp"
#include "files.hpp"
#include "kept_errno.hpp"
#include "threads.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOLLBAR_BY_KERNEL_ALONE __attribute__((no_sanitize_address, no_sanitize_thread, no_sanitize("undefined")))

namespace tollbar::detail {

namespace {

constexpr std::size_t stack_bytes = 65536;
constexpr long close_range_number = 436;  ///< of that system call, which older headers lack

struct Start {
    const char* program;
    char* const* words;
    char* const* variables;
    int input, output;
    std::array<long, 4> limit;  ///< as setitimer(2) takes it
    char* stack_end;            ///< of the program's start
};

/// The kernel's form of an action of sigaction(2); zeros are the default.
struct Action {
    std::array<unsigned long, 8> words{};
};

/// In the process that becomes the program.
TOLLBAR_BY_KERNEL_ALONE int become(void* given) {
    const Start& start = *static_cast<const Start*>(given);
    const Action by_default;
    for (int number = 1; number <= 64; ++number) syscall(SYS_rt_sigaction, number, &by_default, nullptr, 8);
    const unsigned long none[2] = {};
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, none, nullptr, 8);
    syscall(SYS_setitimer, ITIMER_REAL, start.limit.data(), nullptr);  // SIGALRM ends it, whatever it hangs in
    syscall(SYS_dup3, start.input, STDIN_FILENO, 0);
    syscall(SYS_dup3, start.output, STDOUT_FILENO, 0);
    syscall(SYS_dup3, start.output, STDERR_FILENO, 0);
    if (syscall(close_range_number, 3, ~0U, 0) != 0)
        for (int number = 3; number < 4096; ++number) syscall(SYS_close, number);
    syscall(SYS_execve, start.program, start.words, start.variables);
    return 127;
}

/// In the process between.
TOLLBAR_BY_KERNEL_ALONE int begin(void* given) {
    const auto* const start = static_cast<const Start*>(given);
    return clone(become, start->stack_end, CLONE_VM | CLONE_VFORK | SIGCHLD, given) < 0 ? 1 : 0;
}

/// Its own children are a program's own affair: one that inherits strangers would meet ours among them.
bool inherits_strangers() noexcept {
    int is_reaper = 0;
    return getpid() == 1 || prctl(PR_GET_CHILD_SUBREAPER, &is_reaper, 0, 0, 0) != 0 || is_reaper != 0;
}

/// A descriptor that is none of the first three, which a program may have closed.
File high(int descriptor) {
    File own(descriptor);
    return own.number() > STDERR_FILENO || !own ? std::move(own) : File(fcntl(own.number(), F_DUPFD_CLOEXEC, 3));
}

bool started(Start& start, const Mapping& stacks) {
    const SignalsHeldBack held;  // no handler of the program's runs on its memory meanwhile
    auto* const end = reinterpret_cast<char*>(stacks.memory()) + 2 * stack_bytes;
    start.stack_end = end - stack_bytes;
    const pid_t between = clone(begin, end, CLONE_VM | CLONE_VFORK, &start);
    int status = 0;
    if (between < 0) return false;
    while (waitpid(between, &status, static_cast<int>(__WCLONE)) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string ask_beside(const std::string& program, const std::string& argument, const std::string& input,
                       std::size_t lines, std::chrono::milliseconds limit, const std::function<bool()>& goes_on) {
    const c_door::KeptErrno kept;
    const NotCancelled not_cancelled;
    if (inherits_strangers()) return "";
    const File question = high(memfd_create("tollbar-question", MFD_CLOEXEC));
    std::array<int, 2> ends{-1, -1};
    if (!question || pipe2(ends.data(), O_CLOEXEC) != 0) return "";
    const File answer = high(ends[0]);
    File theirs = high(ends[1]);
    if (!answer || !theirs) return "";
    if (write(question.number(), input.data(), input.size()) != static_cast<ssize_t>(input.size())) return "";
    lseek(question.number(), 0, SEEK_SET);

    const Mapping stacks(2 * stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1,
                         "the stack of a process");
    const std::string folders = environment::library_folders();
    std::string first = program, second = argument, libraries = "LD_LIBRARY_PATH=" + folders;
    const std::array<char*, 3> words{first.data(), second.data(), nullptr};
    const std::array<char*, 2> variables{folders.empty() ? nullptr : libraries.data(), nullptr};
    Start start{.program = program.c_str(),
                .words = words.data(),
                .variables = variables.data(),
                .input = question.number(),
                .output = theirs.number(),
                .limit = {0, 0, static_cast<long>(limit.count() / 1000 + 1), 0},
                .stack_end = nullptr};
    if (!started(start, stacks)) return "";
    theirs = File();

    const Deadline deadline = deadline_after(limit);
    std::string said;
    std::array<char, 4096> part{};
    const auto whole = [&] { return static_cast<std::size_t>(std::ranges::count(said, '\n')); };
    while (whole() < lines && std::chrono::steady_clock::now() < deadline.at && goes_on()) {
        if (!sleep_until_readable(answer, deadline_after(std::chrono::milliseconds(10)))) continue;
        const ssize_t got = read(answer.number(), part.data(), part.size());
        if (got <= 0) break;
        said.append(part.data(), static_cast<std::size_t>(got));
    }
    return said;
}

std::string program_of_ours(const std::string& name) {
    const c_door::KeptErrno kept;
    Dl_info own{};
    std::array<char, PATH_MAX> path{};
    struct stat library {
    }, program{};
    if (getauxval(AT_SECURE) != 0) return "";  // a path of the caller's could lead to it
    if (dladdr(reinterpret_cast<const void*>(&ask_beside), &own) == 0 || own.dli_fname == nullptr ||
        realpath(own.dli_fname, path.data()) == nullptr || stat(path.data(), &library) != 0)
        return "";
    std::string folder = path.data();
    for (int above = 0; above < 8 && !folder.empty(); ++above) {
        folder.erase(std::min(folder.rfind('/'), folder.size()));
        for (const char* const place : {"/libexec/tollbar/", "/libexec/", "/bin/"}) {
            std::string found = folder + place + name;
            if (stat(found.c_str(), &program) == 0 && S_ISREG(program.st_mode) && program.st_uid == library.st_uid &&
                (program.st_mode & S_IWOTH) == 0)
                return found;
        }
    }
    return "";
}

}  // namespace tollbar::detail
