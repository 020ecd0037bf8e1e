// SPDX-License-Identifier: Apache-2.0
// Reads a thread that sleeps until it has done nothing meanwhile.
#include "stopping.hpp"

#include "base/files.hpp"

#include <string>
#include <tuple>

namespace tollbar::look {

std::string task_folder(const Thread& thread) {
    return "/proc/" + std::to_string(thread.process) + "/task/" + std::to_string(thread.number);
}

void copy(const Process& process, Thread& thread, std::size_t most_stack) {
    const auto place = [&] { return std::tuple(thread.call, thread.stack_pointer, thread.program_counter); };
    constexpr int most = 8;
    for (int attempt = 0; attempt < most; ++attempt) {
        if (thread.call == Thread::runs && copy_stopped(process, thread, most_stack)) return;
        const auto before = place();
        if (thread.call != Thread::runs) process.copy_stack(thread, most_stack);
        read_call(thread, detail::contents_of(task_folder(thread) + "/syscall"));
        if (thread.call != Thread::runs && place() == before) return;
    }
    thread.stack.clear();
}

}  // namespace tollbar::look
