// SPDX-License-Identifier: Apache-2.0
// Each rank has a thread that looks at the seats of its host a few times a time-out; the first to see that a wait has
// lasted so long reports for all.
#include "conclusion.hpp"
#include "told.hpp"
#include "watch.hpp"

#include "base/files.hpp"
#include "base/process.hpp"
#include "base/report.hpp"
#include "communicator/call_site.hpp"
#include "communicator/facts.hpp"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>

namespace tollbar::detail::watch {

namespace {

using Seconds = std::chrono::duration<double>;

/// The state is that of its first thread. The kernel shows every user's own processes where they sleep, without the
/// right to trace them.
std::string doing(const Rank& rank) {
    if (!is_running(rank.row.process, rank.row.start)) return "dead";
    const std::string folder = "/proc/" + std::to_string(rank.row.process);
    const std::string stat = contents_of(folder + "/stat"), asleep_in = contents_of(folder + "/wchan");
    const std::size_t after_name = stat.rfind(") ");
    const char state = after_name == std::string::npos ? '?' : stat[after_name + 2];
    if (state == 'R') return "running";
    if (state == 'T' || state == 't') return "stopped";
    return asleep_in.empty() || asleep_in == "0" ? "asleep" : "asleep in the kernel's " + asleep_in;
}

class Watcher {
public:
    Watcher(tollbar_seats_file& file, double timeout_s) : file_(file), timeout_(timeout_s), looking_(file) {}

    void start() {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's signals are for its own threads
        thread_ = std::thread([this] { watch(); });
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    void stop() {
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }

private:
    void watch() {
        pthread_setname_np(pthread_self(), "tollbar-watch");
        const Seconds longest_pause = std::clamp(timeout_ / 16, Seconds(0.01), Seconds(1));
        Seconds pause = longest_pause;
        std::unique_lock lock(mutex_);
        for (Clock::time_point before = Clock::now(); !over_;) {
            changed_.wait_for(lock, pause);
            const Clock::time_point now = Clock::now();
            if (now - before > longest_pause + timeout_ / 2) looking_.forget();
            before = now;
            if (over_) return;
            lock.unlock();
            const Looking::Longest longest = looking_.longest(now);
            const Seconds until_due = timeout_ - Seconds(longest.waited_s);
            const bool waits = until_due <= Seconds(0) && is_due(file_.reported_ns, now);
            // Ranks of other hosts may wait for one that stands still.
            const bool stands = is_gathered() && longest.stood_s >= timeout_.count() && is_due(file_.stood_ns, now);
            if (waits || stands) report_if_possible([&] { look(now); });
            pause = until_due > Seconds(0) ? std::min(longest_pause, until_due) : longest_pause;
            lock.lock();
        }
    }

    void look(Clock::time_point now) {
        std::vector<Rank> ranks = looking_.look(now);
        leave_out_stopped(ranks, timeout_.count(), asked());
        const std::vector<Line> lines = conclude(ranks, timeout_.count(), asked());
        if (lines.empty() && !is_gathered()) return;
        // A line that has become wrong meanwhile, or has been wrong, is not said.
        if (is_over_within(std::min(timeout_ / 32, Seconds(0.1)))) return;
        if (leave_out_stopped(ranks, timeout_.count(), asked())) return;
        std::uint64_t& turn = lines.empty() ? file_.stood_ns : file_.reported_ns;
        if (!looking_.still_wait(ranks, timeout_.count()) || !takes(turn, now)) return;
        __atomic_store_n(&file_.stood_ns, nanoseconds(now.time_since_epoch()), __ATOMIC_RELAXED);
        if (is_gathered())
            for (const Line& line : standings(looking_.look(Clock::now()), asked())) tell(line.text, line.facts);
        for (const Line& line : lines) tell(line.text, line.facts);
    }

    bool is_over_within(Seconds time) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, time, [this] { return over_; });
    }

    bool is_due(const std::uint64_t& turn, Clock::time_point now) const {
        const std::uint64_t last = __atomic_load_n(&turn, __ATOMIC_RELAXED);
        return last == 0 || nanoseconds(now.time_since_epoch()) >=
                                last + nanoseconds(std::chrono::duration_cast<Clock::duration>(timeout_));
    }

    /// One watcher of the host has the turn. Relaxed: nothing else is handed over.
    bool takes(std::uint64_t& turn, Clock::time_point now) {
        std::uint64_t last = __atomic_load_n(&turn, __ATOMIC_RELAXED);
        return is_due(turn, now) && __atomic_compare_exchange_n(&turn, &last, nanoseconds(now.time_since_epoch()),
                                                                false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }

    static Asked asked() { return {.host = mpi::host_name(), .site = mpi::call_site_in, .doing = doing}; }

    tollbar_seats_file& file_;
    const Seconds timeout_;
    Looking looking_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    std::thread thread_;
};

Watcher* watcher;

}  // namespace

void begin(const Place& place, double timeout_s) noexcept {
    __atomic_store_n(&place.row->state, std::uint64_t{tollbar_row_used},
                     __ATOMIC_RELEASE);  // pairs with the acquire in look.cpp
    if (timeout_s <= 0) return;
    try {
        auto made = std::make_unique<Watcher>(*place.file, timeout_s);
        made->start();
        watcher = made.release();
    } catch (const std::exception&) {  // the others watch this rank's seats
    }
}

void end(const Place& place) noexcept {
    __atomic_store_n(&place.row->state, std::uint64_t{tollbar_row_left}, __ATOMIC_RELEASE);  // pairs as above
    if (watcher != nullptr) watcher->stop();
}

}  // namespace tollbar::detail::watch
