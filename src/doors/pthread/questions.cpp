// SPDX-License-Identifier: Apache-2.0
// Shared and anonymous memory is that of /dev/zero in the memory map of this process. Threads that have arrived are
// those whose visits are at the gate.
#include "questions.hpp"

#include "base/kept_errno.hpp"
#include "base/process.hpp"
#include "missing/reporting.hpp"
#include "visits.hpp"

#include <cinttypes>
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
    tollbar_report("thread %d has waited %.1f s in pthread_barrier_wait, called at %s: %" PRIu64 " of %" PRIu64
                   " threads have not arrived, thread%s %s%s %s",
                   gettid(), phase.waited_s, phase.place.c_str(), phase.expected - phase.arrived, phase.expected,
                   threads.size() == 1 ? "" : "s",
                   listed(threads, [](pid_t thread) { return std::to_string(thread); }).c_str(),
                   phase.shared ? " of this process" : "", threads.size() == 1 ? "has" : "have");
}

}  // namespace tollbar::detail::pthread_door
