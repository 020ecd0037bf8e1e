// SPDX-License-Identifier: Apache-2.0
// Stops a thread of x86-64, whose registers have all that makes an interrupted call again. PTRACE_SEIZE sends no signal
// and the kernel detaches for a tracer that dies, so that no thread can stay stopped.
#include "stopping.hpp"

#include "base/files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <sched.h>
#include <string>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

namespace tollbar::look {

namespace {

using Clock = std::chrono::steady_clock;

/// To fall asleep and be woken takes longer than most threads need to stop.
constexpr std::chrono::microseconds polled(200);

/// Whether a stop goes unnoticed now: the thread runs, or waits for a futex. The kernel writes what is left of a sleep
/// to the program's memory, so that only a thread that was chosen for its sleep may be stopped in one.
bool may_be_stopped(const Thread& thread) {
    Thread now;
    read_call(now, detail::contents_of(task_folder(thread) + "/syscall"));
    return now.call == Thread::runs || now.waits_for_futex() ||
           (now.call == SYS_clock_nanosleep && now.call == thread.call);
}

bool no_signal_pending(const Thread& thread) {
    const std::string status = detail::contents_of(task_folder(thread) + "/status");
    return std::ranges::all_of(std::array{"\nSigPnd:", "\nShdPnd:"}, [&](const std::string& name) {
        const auto at = status.find(name);
        return at != std::string::npos && std::strtoull(status.c_str() + at + name.size(), nullptr, 16) == 0;
    });
}

/// A thread that went to sleep between the question and the stop may have left a call with EINTR that nobody but this
/// stop has caused: it makes that call again.
void make_call_again(const Thread& thread, user_regs_struct& values) {
    constexpr auto length_of_syscall = 2;
    const auto call = static_cast<long long>(values.orig_rax);
    if (call < 0 || static_cast<long long>(values.rax) != -EINTR || !no_signal_pending(thread)) return;
    values.rax = values.orig_rax;
    values.rip -= length_of_syscall;
    values.orig_rax = ~0ULL;
    ptrace(PTRACE_SETREGS, thread.number, nullptr, &values);
}

/// While it exists, this thread is on another CPU than the one to be stopped, and no other task of the machine takes
/// that from it, where this is allowed: who waits for a CPU keeps the stopped thread waiting.
class Ahead {
public:
    explicit Ahead(int cpu) : kept_(sched_getaffinity(0, sizeof before_, &before_) == 0) {
        // The priority first: on a CPU that it comes to without it, this thread would wait for its turn.
        const sched_param lowest{.sched_priority = sched_get_priority_min(SCHED_FIFO)};
        sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest);
        cpu_set_t others = before_;
        if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_CLR(cpu, &others);
        alone_ = kept_ && sched_setaffinity(0, sizeof others, &others) == 0;
    }
    ~Ahead() {
        const sched_param none{};
        sched_setscheduler(0, SCHED_OTHER, &none);
        if (kept_) sched_setaffinity(0, sizeof before_, &before_);
    }
    Ahead(const Ahead&) = delete;
    Ahead& operator=(const Ahead&) = delete;

    /// Whether it has a CPU of its own.
    bool alone() const { return alone_; }

private:
    cpu_set_t before_{};
    bool kept_, alone_ = false;
};

void keep(Thread& thread, const user_regs_struct& r) {
    thread.saved = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                    r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
    thread.stack_pointer = r.rsp;
    thread.program_counter = r.rip;
}

bool stop_and_copy(const Process& process, Thread& thread, std::size_t most_stack, const Ahead& ahead) {
    if (!may_be_stopped(thread) || ptrace(PTRACE_SEIZE, thread.number, nullptr, nullptr) != 0) return false;
    process.warm_up();
    const auto begin = Clock::now();
    ptrace(PTRACE_INTERRUPT, thread.number, nullptr, nullptr);
    int status = 0;
    pid_t waited = 0;
    do {
        const bool polls = ahead.alone() && Clock::now() - begin < polled;
        waited = waitpid(thread.number, &status, __WALL | (polls ? WNOHANG : 0));
    } while (waited == 0 || (waited < 0 && errno == EINTR));
    if (waited != thread.number || !WIFSTOPPED(status)) return false;

    // A signal that arrived first is delivered, and its EINTR is the thread's; a stop of this function's making goes
    // on.
    const bool own_stop = status >> 16 == PTRACE_EVENT_STOP;
    user_regs_struct values{};
    const bool copied = ptrace(PTRACE_GETREGS, thread.number, nullptr, &values) == 0;
    if (copied) {
        thread.stack_pointer = values.rsp;
        process.copy_stack(thread, most_stack);
        if (own_stop) make_call_again(thread, values);
    }
    const long signal = own_stop ? 0 : WSTOPSIG(status);
    ptrace(PTRACE_DETACH, thread.number, nullptr, signal);
    thread.held_us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    if (copied) keep(thread, values);
    return copied;
}

}  // namespace

bool copy_stopped(const Process& process, Thread& thread, std::size_t most_stack) {
    thread.stack.assign(most_stack, std::byte{});  // new memory costs a fault a page: not while anybody is stopped
    const bool copied = stop_and_copy(process, thread, most_stack, Ahead(thread.cpu));
    if (!copied) thread.stack.clear();
    return copied;
}

}  // namespace tollbar::look
