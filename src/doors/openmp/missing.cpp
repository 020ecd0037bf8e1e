// SPDX-License-Identifier: Apache-2.0
// Reads the records of other threads while they go on: what it says is of one moment for each thread.
#include "barrier.hpp"

#include "base/report.hpp"

#include <dlfcn.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace tollbar::detail::openmp {

namespace {

/// "program+0x1234 (function)", for addr2line(1) and for eyes. A barrier that a region ends with was jumped to, from
/// where is not known.
std::string text_of(const void* place, const void* body) {
    Dl_info about{}, own{};
    dladdr(reinterpret_cast<const void*>(&report_missing), &own);
    if (place == nullptr || dladdr(place, &about) == 0 || about.dli_fname == nullptr) return "an unknown place";
    if (about.dli_fbase == own.dli_fbase) return "the end of " + text_of(body, body);
    char offset[32];
    std::snprintf(
        offset, sizeof offset, "+0x%zx",
        static_cast<std::size_t>(static_cast<const char*>(place) - static_cast<const char*>(about.dli_fbase)));
    std::string text = about.dli_fname + std::string(offset);
    if (about.dli_sname != nullptr) text += " (" + std::string(about.dli_sname) + ")";
    return text;
}

std::string place_of(const Member& member) {
    return text_of(member.place.load(std::memory_order_relaxed), member.body.load(std::memory_order_relaxed));
}

/// The record of that thread in a region; null where it has not begun.
const Member* member_of(const NativeTeam& team, int number) noexcept {
    for (const Member* first = first_of_all(); first != nullptr; first = first->next_thread)
        for (const Member* one = first; one != nullptr; one = one->inner.load(std::memory_order_acquire))
            if (one->team.load(std::memory_order_relaxed) == &team &&
                one->number.load(std::memory_order_relaxed) == number)
                return one;
    return nullptr;
}

std::string text_of(int number, const Member* member) {
    const std::string text = "thread " + std::to_string(number);
    if (member == nullptr) return text + ", which has not begun";
    const std::string thread = text + " (thread id " + std::to_string(member->thread.load(std::memory_order_relaxed));
    if (member->barriers.load(std::memory_order_relaxed) == 0) return thread + ", at no barrier yet)";
    return thread + ", last at the barrier at " + place_of(*member) + ")";
}

/// True for one of the threads that wait, in every `timeout`.
bool is_reporter(NativeTeam& team, std::chrono::duration<double> timeout) noexcept {
    const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
    const auto half = static_cast<std::int64_t>(timeout.count() * 0.5e9);
    std::int64_t last = team.reported_ns.load(std::memory_order_relaxed);
    return now - last >= half && team.reported_ns.compare_exchange_strong(last, now, std::memory_order_relaxed);
}

}  // namespace

void report_missing(const Member& self, NativeTeam& team, std::uint64_t barrier, std::chrono::duration<double> waited,
                    std::chrono::duration<double> timeout) {
    if (!is_reporter(team, timeout)) return;
    std::vector<std::string> missing;
    for (int number = 0; number < static_cast<int>(self.threads); ++number) {
        const Member* const member = member_of(team, number);
        if (member == nullptr || member->barriers.load(std::memory_order_relaxed) <= barrier)
            missing.push_back(text_of(number, member));
    }
    tollbar_report("thread %d of %d of process %d has waited %.1f s in the OpenMP barrier at %s for %s",
                   self.number.load(std::memory_order_relaxed), static_cast<int>(self.threads),
                   static_cast<int>(getpid()), waited.count(), place_of(self).c_str(),
                   listed(missing, [](const std::string& one) { return one; }).c_str());
}

}  // namespace tollbar::detail::openmp
