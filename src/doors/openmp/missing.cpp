// SPDX-License-Identifier: Apache-2.0
// A thread reads the records of all others while they go on: what it says is of one moment for each thread.
#include "missing.hpp"

#include "missing/places.hpp"
#include "missing/reporting.hpp"
#include "missing/sentence.hpp"
#include "base/threads.hpp"

#include <algorithm>
#include <chrono>
#include <dlfcn.h>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tollbar::detail::openmp {

namespace {

using Seconds = std::chrono::duration<double>;

std::int64_t now_ns() noexcept {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A barrier that a region ends with was jumped to, from where is not known.
std::string text_of(const void* place, const void* body, Places& places) {
    Dl_info about{}, own{};
    dladdr(reinterpret_cast<const void*>(&note_wait), &own);
    const bool is_end = place == nullptr && body != nullptr;
    if (!is_end && dladdr(place, &about) == 0) return "an unknown place";
    if (is_end || about.dli_fbase == own.dli_fbase) return "the end of " + text_of(body, nullptr, places);
    // A body is a function; any other place is where a call returns to.
    return body == nullptr ? places.of(0, reinterpret_cast<std::uintptr_t>(place)) : places.of_call(place);
}

std::string place_of(const ThreadRecord& member, Places& places) {
    return text_of(member.place.load(std::memory_order_relaxed), member.body.load(std::memory_order_relaxed), places);
}

/// The barriers of the region at which it has arrived, whosever they are.
std::uint64_t arrivals_of(const ThreadRecord& member) noexcept {
    return member.barriers.load(std::memory_order_relaxed) + member.watched.notes.load(std::memory_order_relaxed);
}

/// Calls `look(record)` for every record of every thread.
template <class Look>
void for_each_record(Look look) {
    for (const ThreadRecord* first = first_of_all(); first != nullptr; first = first->next_thread)
        for (const ThreadRecord* one = first; one != nullptr; one = one->inner.load(std::memory_order_acquire))
            look(*one);
}

/// A thread that has waited for long, as it was when it was looked at.
struct Waiting {
    explicit Waiting(const ThreadRecord& looked_at)
        : member(&looked_at), team(looked_at.watched.team.load(std::memory_order_acquire)),  // pairs with note_begin()
          region(looked_at.watched.region.load(std::memory_order_relaxed)),
          since_ns(looked_at.watched.waits_since.load(std::memory_order_acquire)),  // pairs with note_wait()
          arrivals(arrivals_of(looked_at)) {}

    bool still_waits() const noexcept {
        return team != nullptr && since_ns != 0 && team->ended.load(std::memory_order_acquire) == region &&
               member->watched.team.load(std::memory_order_relaxed) == team &&
               member->watched.waits_since.load(std::memory_order_relaxed) == since_ns;
    }

    const ThreadRecord* member;
    const NativeTeam* team;
    std::uint64_t region;
    std::int64_t since_ns;
    std::uint64_t arrivals;
};

/// No member: the thread has not begun.
missing::Member described(int number, const ThreadRecord* member, Places& places) {
    missing::Member thread{.kind = "thread", .numbers = {number}, .state = TOLLBAR_NEVER_JOINED};
    if (member == nullptr) return thread;
    thread.known_as = "thread ID " + std::to_string(member->thread.load(std::memory_order_relaxed));
    thread.state = TOLLBAR_RUNNING;
    thread.last = arrivals_of(*member) == 0 ? "it has been at no barrier yet"
                                            : "its last barrier was at " + place_of(*member, places);
    return thread;
}

/// The threads that the barrier waits for. A thread without a record has not begun, unless others wait for the end
/// already: tasks that a thread runs there may open regions, which take its record.
std::vector<missing::Member> missing_of(const Waiting& waiting, int threads, Places& places) {
    std::vector<const ThreadRecord*> members(static_cast<std::size_t>(threads));
    for_each_record([&](const ThreadRecord& one) {
        const auto number = static_cast<std::size_t>(one.number.load(std::memory_order_relaxed));
        if (one.watched.team.load(std::memory_order_acquire) == waiting.team && number < members.size() &&
            one.watched.region.load(std::memory_order_relaxed) == waiting.region)
            members[number] = &one;
    });
    const bool is_end = waiting.member->place.load(std::memory_order_relaxed) == nullptr;
    std::vector<missing::Member> missing;
    for (int number = 0; number < threads; ++number) {
        const ThreadRecord* const member = members[static_cast<std::size_t>(number)];
        if (member == nullptr ? !is_end : arrivals_of(*member) < waiting.arrivals)
            missing.push_back(described(number, member, places));
    }
    return missing;
}

class OverdueWaits {
public:
    explicit OverdueWaits(Seconds timeout) : timeout_(timeout) {}

    void look() {
        const std::int64_t now = now_ns();
        const auto is_long = [&](std::int64_t since) { return Seconds(1e-9 * double(now - since)) >= timeout_; };
        for_each_record([&](const ThreadRecord& one) {
            const Waiting waiting(one);
            if (!waiting.still_waits() || !is_long(waiting.since_ns) || !is_long(reported_ns_[waiting.team])) return;
            if (report(waiting, now)) reported_ns_[waiting.team] = now;
        });
    }

private:
    static bool report(const Waiting& waiting, std::int64_t now) {
        const ThreadRecord& self = *waiting.member;
        const int threads = self.watched.threads.load(std::memory_order_relaxed);
        const auto [missing, place] = with_names(places_limit, [&](Places& places) {
            return std::pair(missing_of(waiting, threads, places), place_of(self, places));
        });
        if (missing.empty() || !waiting.still_waits()) return false;
        const std::string process = std::to_string(getpid());
        const std::string waiter = "thread " + std::to_string(self.number.load(std::memory_order_relaxed));
        missing::report({.about = "OpenMP barrier of " + std::to_string(threads) + " threads of process " + process +
                                  " at " + place,
                         .waiter = waiter,
                         .waited_s = 1e-9 * static_cast<double>(now - waiting.since_ns),
                         .clauses = missing::clauses_of(missing),
                         .wait = "by " + process + " " + waiter});
        return true;
    }

    const Seconds timeout_;
    std::unordered_map<const NativeTeam*, std::int64_t> reported_ns_;
};

[[noreturn]] void watch(Seconds timeout) {
    pthread_setname_np(pthread_self(), "tollbar-watch");
    OverdueWaits watcher(timeout);
    for (;;) {
        std::this_thread::sleep_for(std::clamp(timeout / 8, Seconds(0.01), Seconds(0.1)));
        report_if_possible([&] { watcher.look(); });
    }
}

/// Once in a process: a child of fork has no such thread.
void start_watching() noexcept {
    static std::atomic<pid_t> watched_process{0};
    if (watched_process.load(std::memory_order_relaxed) == getpid()) return;
    if (watched_process.exchange(getpid(), std::memory_order_relaxed) == getpid()) return;
    report_if_possible([] { quiet_thread([timeout = *own_timeout()] { watch(timeout); }).detach(); });
}

}  // namespace

void note_begin(ThreadRecord& self, const NativeTeam& team) noexcept {
    start_watching();
    Watched& noted = self.watched;
    noted.region.store(team.ended.load(std::memory_order_relaxed), std::memory_order_relaxed);
    noted.threads.store(static_cast<int>(self.threads), std::memory_order_relaxed);
    noted.waits_since.store(0, std::memory_order_relaxed);
    noted.notes.store(0, std::memory_order_relaxed);
    noted.team.store(&team, std::memory_order_release);  // pairs with Waiting and missing_of()
}

void note_wait(ThreadRecord& self) noexcept {
    self.watched.waits_since.store(now_ns(), std::memory_order_release);  // pairs with Waiting
}

void note_runtimes_wait(ThreadRecord& self, const void* place) noexcept {
    self.place.store(place, std::memory_order_relaxed);
    self.watched.notes.store(self.watched.notes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    note_wait(self);
}

}  // namespace tollbar::detail::openmp
