// SPDX-License-Identifier: Apache-2.0
// Shared and anonymous memory is that of /dev/zero in the memory map of this process. Threads that have arrived are
// those whose visits are at the gate.
#include "questions.hpp"

#include "base/kept_errno.hpp"
#include "base/process.hpp"
#include "base/thread_id.hpp"
#include "missing/sentence.hpp"
#include "visits.hpp"

#include <exception>
#include <string>
#include <unistd.h>
#include <vector>

namespace tollbar::detail::pthread_door {

namespace {

std::vector<pid_t> threads_at(const void* gate) {
    std::vector<pid_t> threads;
    for (const VisitSlot* slot = visits::newest(); slot != nullptr; slot = slot->next)
        if (slot->visit.is_at(gate)) threads.push_back(slot->thread());
    std::ranges::sort(threads);
    return threads;
}

}  // namespace

bool only_children_share(const void* address) noexcept {
    const c_door::KeptErrno kept;
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    try {
        const std::vector<Region> regions = regions_of(0);
        const Region* const found = region_at(regions, wanted);
        return found != nullptr && (!found->shared || found->name == "/dev/zero (deleted)");
    } catch (const std::exception&) {  // no memory for a line
        return false;
    }
}

void report_missing(const Incomplete& phase) {
    if (phase.arrived >= phase.expected) return;  // meanwhile
    const std::vector<pid_t> threads = threads_at(phase.gate);
    const std::size_t lacking = phase.expected - phase.arrived;
    const std::string process = std::to_string(getpid()), thread = std::to_string(thread_id());
    missing::report({.about = "pthread_barrier_wait of process " + process + " at " + phase.place,
                     .waiter = "thread " + thread,
                     .waited_s = phase.waited_s,
                     .clauses = {missing::clause_of_arrived("thread", threads, lacking, phase.expected,
                                                            phase.shared ? " of this process" : "")},
                     .wait = "by " + process + " thread " + thread,
                     .arrived = threads,
                     .lacking = lacking});
}

}  // namespace tollbar::detail::pthread_door
