// SPDX-License-Identifier: Apache-2.0
// The choice of the thread that runs on a processor of a fair kernel: earliest eligible virtual deadline first (Stoica,
// Abdel-Wahab 1995), as kernel/sched/fair.c of Linux 6.18 has it for threads of one weight, one slice and one group.
#pragma once

#include "jobs.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace tollbar::scheduler {

/// The kernel's account of a thread.
struct Share {
    Nanoseconds virtual_time = 0;  ///< processor time that it has had or has forfeited
    Nanoseconds deadline = 0;      ///< virtual time at which its slice is used up
    Nanoseconds lag = 0;           ///< of a thread that does not queue: how far it was behind the average when it left
    bool leaving = false;          ///< asleep, but it queues until it has been behind the average
};

class FairQueue {
public:
    /// `shares` are of all threads of the simulation.
    FairQueue(const Clockwork& clockwork, bool forfeits, std::vector<Share>& shares)
        : slice_(clockwork.quantum), most_lag_(std::max(2 * clockwork.quantum, clockwork.tick)), forfeits_(forfeits),
          shares_(&shares) {}

    /// Threads that queue, the one that runs and those that are leaving among them.
    std::size_t size() const { return queued_.size(); }

    /// A thread comes for the first time: with half a slice.
    void join(Thread thread);
    /// A sleeper comes back, as far behind the average as it was.
    void wake(Thread thread);
    /// The one that runs goes to sleep: at once if it is behind the average, else when the average has come to it.
    void sleep();
    /// The one that runs is through.
    void leave();
    /// The one that runs offers its processor: its deadline is one slice later, and if it forfeits it has used up this
    /// slice.
    void yield();
    /// The one that runs has had the processor for so long.
    void charge(Nanoseconds time);
    /// The kernel looks. Whether the one that runs has used up its slice while others want to run.
    bool tick();

    /// Whether a thread that queues should run now, before the one that runs.
    bool preempts(Thread thread) const { return best() == thread; }
    /// The thread that shall run now, perhaps the one that does. A leaving thread that comes up has left.
    std::optional<Thread> pick();
    void run(Thread thread);

private:
    Share& of(Thread thread) { return (*shares_)[thread]; }
    const Share& of(Thread thread) const { return (*shares_)[thread]; }
    Nanoseconds average() const;
    /// At most the average virtual time, exactly.
    bool eligible(Thread thread) const;
    /// The eligible thread with the earliest deadline; the one that runs keeps its slice while it is eligible.
    Thread best() const;
    void place(Thread thread, Nanoseconds lag, Nanoseconds slice);
    void remove(Thread thread);

    Nanoseconds slice_, most_lag_;
    bool forfeits_;
    std::vector<Share>* shares_;
    std::vector<Thread> queued_;  // in the order in which they came to queue
    std::optional<Thread> runs_;
    Nanoseconds protected_until_ = 0;  // the virtual time of the one that runs
    Nanoseconds empty_at_ = 0;         // the average when the last one left
};

}  // namespace tollbar::scheduler
