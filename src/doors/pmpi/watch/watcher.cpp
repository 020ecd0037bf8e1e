// SPDX-License-Identifier: Apache-2.0
// Each rank has a thread that looks at the seats of its host a few times a time-out; the first to see that a wait has
// lasted so long reports for all.
#include "conclusion.hpp"
#include "doing.hpp"
#include "watch.hpp"

#include "base/report.hpp"
#include "base/say.h"
#include "communicator/call_site.hpp"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <map>
#include <mutex>
#include <pthread.h>
#include <unistd.h>

namespace tollbar::detail::watch {

namespace {

using Clock = Looking::Clock;
using Seconds = std::chrono::duration<double>;

std::string host_name() {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

class Watcher {
public:
    Watcher(tollbar_seats_file& file, double timeout_s) : file_(file), timeout_(timeout_s), looking_(file) {}

    /// False where no thread can be had.
    bool start() noexcept {
        sigset_t all, before;
        sigfillset(&all);
        pthread_attr_t attributes;
        if (pthread_attr_init(&attributes) != 0) return false;
        pthread_attr_setstacksize(&attributes, stack_bytes);
        pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's signals are for its own threads
        const int error = pthread_create(&thread_, &attributes, run, this);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        pthread_attr_destroy(&attributes);
        return error == 0;
    }

    void stop() {
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        changed_.notify_all();
        pthread_join(thread_, nullptr);
    }

private:
    static constexpr std::size_t stack_bytes = std::size_t{256} << 10;

    static void* run(void* self) {
        static_cast<Watcher*>(self)->watch();
        return nullptr;
    }

    void watch() {
        const Seconds pause = std::clamp(timeout_ / 8, Seconds(0.01), Seconds(1));
        std::unique_lock lock(mutex_);
        for (Clock::time_point before = Clock::now(); !over_;) {
            changed_.wait_for(lock, pause);
            const Clock::time_point now = Clock::now();
            if (now - before > pause + timeout_ / 2) looking_.forget();
            before = now;
            if (over_) return;
            lock.unlock();
            report_if_possible([&] { look(now); });
            lock.lock();
        }
    }

    void look(Clock::time_point now) {
        const std::vector<Rank> ranks = looking_.look(now);
        if (!anybody_waits(ranks) || !is_due(now)) return;
        const std::vector<std::string> lines = conclude(ranks, timeout_.count(), asked());
        if (!still_waits(ranks) || !takes_turn(now)) return;
        for (const std::string& line : lines) tollbar_report("%s", line.c_str());
    }

    bool waits(const Seat& seat) const {
        return seat.state() != tollbar_outside && seat.waited_s >= timeout_.count();
    }

    bool anybody_waits(const std::vector<Rank>& ranks) const {
        return std::ranges::any_of(ranks, [this](const Rank& rank) {
            return std::ranges::any_of(rank.seats, [this](const Seat& seat) { return waits(seat); });
        });
    }

    /// Making lines takes its time; one that has become wrong meanwhile is not said.
    bool still_waits(const std::vector<Rank>& before) const {
        const std::vector<Rank> after = watch::look(file_);
        for (const Rank& rank : before) {
            const auto same = std::ranges::find(after, rank.process, &Rank::process);
            for (std::size_t i = 0; i < rank.seats.size(); ++i)
                if (waits(rank.seats[i]) && (same == after.end() || same->seats[i].at != rank.seats[i].at)) return false;
        }
        return true;
    }

    static std::uint64_t nanoseconds(Clock::duration time) {
        return static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count());
    }

    bool is_due(Clock::time_point now) const {
        const std::uint64_t last = __atomic_load_n(&file_.reported_ns, __ATOMIC_RELAXED);
        return last == 0 || nanoseconds(now.time_since_epoch()) >=
                                last + nanoseconds(std::chrono::duration_cast<Clock::duration>(timeout_));
    }

    /// One watcher of the host has it. Relaxed: nothing else is handed over.
    bool takes_turn(Clock::time_point now) {
        std::uint64_t last = __atomic_load_n(&file_.reported_ns, __ATOMIC_RELAXED);
        return is_due(now) && __atomic_compare_exchange_n(&file_.reported_ns, &last, nanoseconds(now.time_since_epoch()),
                                                          false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }

    static Asked asked() {
        return {.host = host_name(),
                .site = mpi::call_site_in,
                .doing = [](const Rank& rank) { return doing(rank.process, rank.start); }};
    }

    tollbar_seats_file& file_;
    const Seconds timeout_;
    Looking looking_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    pthread_t thread_{};
};

Watcher* watcher;

}  // namespace

void begin(const Place& place, double timeout_s) noexcept {
    __atomic_store_n(&place.row->state, std::uint64_t{tollbar_row_used}, __ATOMIC_RELEASE);  // pairs with the acquire in look.cpp
    try {
        watcher = new Watcher(*place.file, timeout_s);
        if (!watcher->start()) watcher = nullptr;
    } catch (const std::exception&) {  // the others watch this rank's seats
    }
}

void end(const Place& place) noexcept {
    __atomic_store_n(&place.row->state, std::uint64_t{tollbar_row_left}, __ATOMIC_RELEASE);  // pairs as above
    if (watcher != nullptr) watcher->stop();
}

}  // namespace tollbar::detail::watch
