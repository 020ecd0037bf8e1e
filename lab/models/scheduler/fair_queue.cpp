// SPDX-License-Identifier: Apache-2.0
#include "fair_queue.hpp"

#include <algorithm>

namespace tollbar::scheduler {

void FairQueue::join(Thread thread) { place(thread, 0, slice_ / 2); }

void FairQueue::wake(Thread thread) {
    Share& share = of(thread);
    if (!share.leaving) return place(thread, share.lag, slice_);
    share.leaving = false;
    if (share.virtual_time >= average()) return;  // it never left, and is ahead of the average as it was
    remove(thread);
    place(thread, 0, slice_);
}

void FairQueue::sleep() {
    const Thread thread = *runs_;
    runs_.reset();
    of(thread).leaving = !eligible(thread);
    if (!of(thread).leaving) remove(thread);
}

void FairQueue::leave() {
    const Thread thread = *runs_;
    runs_.reset();
    remove(thread);
}

void FairQueue::yield() {
    Share& share = of(*runs_);
    if (!forfeits_) {
        share.deadline += slice_;
    } else if (eligible(*runs_)) {
        share.virtual_time = share.deadline;
        share.deadline += slice_;
    }
    protected_until_ = share.virtual_time;
}

void FairQueue::charge(Nanoseconds time) { of(*runs_).virtual_time += time; }

bool FairQueue::tick() {
    Share& share = of(*runs_);
    if (share.virtual_time >= share.deadline) share.deadline = share.virtual_time + slice_;
    return share.virtual_time >= protected_until_ && size() > 1;
}

std::optional<Thread> FairQueue::pick() {
    while (size() > 0) {
        const Thread found = best();
        Share& share = of(found);
        if (!share.leaving) return found;
        share.leaving = false;
        remove(found);
        share.lag = std::min<Nanoseconds>(share.lag, 0);
    }
    return {};
}

void FairQueue::run(Thread thread) {
    // A thread that is taken off queues behind the others with its deadline.
    if (runs_) std::rotate(std::ranges::find(queued_, *runs_), std::ranges::find(queued_, *runs_) + 1, queued_.end());
    runs_ = thread;
    protected_until_ = of(thread).deadline;
}

Nanoseconds FairQueue::average() const {
    if (queued_.empty()) return empty_at_;
    const Nanoseconds origin = of(queued_.front()).virtual_time;
    Nanoseconds beyond = 0;
    for (const Thread thread : queued_) beyond += of(thread).virtual_time - origin;
    return origin + beyond / static_cast<Nanoseconds>(size());
}

bool FairQueue::eligible(Thread thread) const {
    Nanoseconds behind = 0;
    for (const Thread other : queued_) behind += of(other).virtual_time - of(thread).virtual_time;
    return behind >= 0;
}

Thread FairQueue::best() const {
    if (runs_ && eligible(*runs_) && of(*runs_).virtual_time < protected_until_) return *runs_;
    std::optional<Thread> found;
    for (const Thread thread : queued_) {
        if (!eligible(thread)) continue;
        if (!found || of(thread).deadline < of(*found).deadline ||
            (found == runs_ && of(thread).deadline == of(*found).deadline))
            found = thread;
    }
    return *found;  // nobody is behind the average, and then somebody is at it
}

void FairQueue::place(Thread thread, Nanoseconds lag, Nanoseconds slice) {
    // Its coming moves the average; afterwards it is as far behind it as `lag` says.
    const auto others = static_cast<Nanoseconds>(size());
    if (others == 0) lag = 0;
    Share& share = of(thread);
    share.virtual_time = average() - (others > 0 ? lag * (others + 1) / others : 0);
    share.deadline = share.virtual_time + slice;
    queued_.push_back(thread);
}

void FairQueue::remove(Thread thread) {
    const Nanoseconds all = average();
    of(thread).lag = std::clamp(all - of(thread).virtual_time, -most_lag_, most_lag_);
    std::erase(queued_, thread);
    empty_at_ = std::max(empty_at_, all);
}

}  // namespace tollbar::scheduler
