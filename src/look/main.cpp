// SPDX-License-Identifier: Apache-2.0
// tollbar-look [--when-told] [PID...]: two looks at processes, and at this user's groups, each a JSON document on
// stdout. The second one begins after 100 ms; when told, once stdin has a line, or its end, as well. Sleepers are read
// without touching them; what runs is stopped for a copy of its registers and its stack.
// tollbar-look --places: names the places of code that stdin asks for, as places.hpp says.
#include "barriers.hpp"
#include "communicators.hpp"
#include "frames.hpp"
#include "groups.hpp"
#include "own_barriers.hpp"
#include "places.hpp"
#include "report.hpp"
#include "stopping.hpp"

#include "base/files.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <memory>
#include <poll.h>
#include <sched.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tollbar::look {

namespace {

constexpr std::size_t most_stack = 65536;
constexpr int apart_ms = 100;

/// A process and what was parsed of it before the first stop.
struct Target {
    explicit Target(pid_t number) : process(number), unwinder(process), communicators(process, unwinder) {}

    Process process;
    Unwinder unwinder;
    Communicators communicators;
};

enum class WhichLook : bool { first, last };

/// The frames, barriers and communicators of a thread whose stack was copied.
void read_frames(Target& target, Thread& thread, WhichLook place) {
    target.unwinder.unwind(thread);
    find_barriers(target.process, thread);
    // A stop changes a sleeper's number of switches, so that only the last look may make one; but the waiters of libc++
    // wake all the time.
    const bool may_stop = place == WhichLook::last || thread.call == SYS_clock_nanosleep;
    if (may_stop && needs_registers(target.process, thread) && copy_stopped(target.process, thread, most_stack)) {
        target.unwinder.unwind(thread);
        find_barriers(target.process, thread);
    }
    target.communicators.find(thread);
}

/// Looks again at threads that may be waiters of libc++ and were awake, until each has been seen in its pause.
void look_again(Target& target, std::vector<Thread>& threads, WhichLook place) {
    constexpr int most = 100, pause_ms = 4;
    for (int attempt = 0; attempt < most && lacks_waiters_of_libcxx(threads); ++attempt) {
        poll(nullptr, 0, pause_ms);
        for (Thread& now : target.process.threads()) {
            const auto before = std::ranges::find(threads, now.number, &Thread::number);
            if (before == threads.end() || !before->barriers.empty() || now.call != SYS_clock_nanosleep) continue;
            target.process.copy_stack(now, most_stack);
            if (now.stack.empty()) continue;
            read_frames(target, now, place);
            now.held_us = std::max(now.held_us, before->held_us);
            if (!now.barriers.empty()) *before = std::move(now);
        }
    }
}

/// First what costs a stopped thread nothing, then the stops in a row, then all that takes time.
Look look(const std::vector<std::unique_ptr<Target>>& targets, WhichLook place) {
    Look look;
    for (const auto& target : targets) look.processes.push_back({&target->process, target->process.threads()});
    for (Sight& sight : look.processes)
        for (Thread& thread : sight.threads) copy(*sight.process, thread, most_stack);
    for (std::size_t i = 0; i < targets.size(); ++i) {
        Sight& sight = look.processes[i];
        for (Thread& thread : sight.threads)
            if (!thread.stack.empty()) read_frames(*targets[i], thread, place);
        look_again(*targets[i], sight.threads, place);
        measure_sleep(sight.threads);
    }
    look.groups = groups();
    for (const Sight& sight : look.processes)
        for (const Thread& thread : sight.threads)
            if (auto group = group_of(*sight.process, thread, look.groups)) look.groups.push_back(std::move(*group));
    return look;
}

/// Beside a job of the user's: whatever there is too little of, the job has it.
int answer() {
    if (const detail::File first(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)); first)
        (void)!write(first.number(), "1000", 4);
    const rlimit none{};
    setrlimit(RLIMIT_CORE, &none);
    const sched_param usual{};
    if (const int policy = sched_getscheduler(0); policy == SCHED_FIFO || policy == SCHED_RR)
        sched_setscheduler(0, SCHED_OTHER, &usual);
    name_places(std::cin, std::cout);
    return 0;
}

/// Looks at several hosts have a moment in common so: each has had its first one by then, and no second one.
void wait_until_told() {
    std::string line;
    std::getline(std::cin, line);
}

int run(int words, char** word) {
    unsetenv("DEBUGINFOD_URLS");  // libdw would ask the network for symbols
    if (words == 2 && word[1] == std::string_view("--places")) return answer();
    const bool when_told = words > 1 && word[1] == std::string_view("--when-told");
    setpriority(PRIO_PROCESS, 0, -20);  // where it is allowed, so that a stopped thread does not wait for a CPU
    std::vector<std::unique_ptr<Target>> targets;
    for (int i = when_told ? 2 : 1; i < words; ++i) {
        char* end = nullptr;
        const long number = std::strtol(word[i], &end, 10);
        if (number <= 0 || *end != '\0') {
            std::fprintf(stderr, "tollbar-look: %s is no process\n", word[i]);
            return 2;
        }
        targets.push_back(std::make_unique<Target>(static_cast<pid_t>(number)));
    }
    // Each is written at once: where the second one does not come, who asked has the first.
    for (const WhichLook place : {WhichLook::first, WhichLook::last}) {
        if (place == WhichLook::last) {
            poll(nullptr, 0, apart_ms);
            if (when_told) wait_until_told();
        }
        std::fputs(to_json(look(targets, place)).c_str(), stdout);
        std::fflush(stdout);
    }
    return 0;
}

}  // namespace

}  // namespace tollbar::look

int main(int words, char** word) {
    try {
        return tollbar::look::run(words, word);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "tollbar-look: %s\n", error.what());
        return 2;
    }
}
