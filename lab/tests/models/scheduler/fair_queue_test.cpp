// SPDX-License-Identifier: Apache-2.0
// The thread that runs on one processor of a fair kernel. Times are nanoseconds of a slice of 1000.
#include "models/scheduler/fair_queue.hpp"

#include <doctest/doctest.h>

#include <map>
#include <vector>

using namespace tollbar::scheduler;

namespace {

constexpr Nanoseconds slice = 1000;

struct Processor {
    std::vector<Share> shares = std::vector<Share>(8);
    FairQueue queue;

    explicit Processor(bool forfeits = true)
        : queue({.quantum = slice, .switching = 1, .tick = 3000, .waking = 0, .calling = 0}, forfeits, shares) {}

    /// Threads come, and the first of them runs.
    Processor& with(const std::vector<Thread>& threads) {
        for (const Thread thread : threads) queue.join(thread);
        queue.run(threads.front());
        return *this;
    }

    Thread picked() {
        queue.run(*queue.pick());
        return *queue.pick();
    }
};

}  // namespace

TEST_CASE("threads that want to run all the time have the same share, whenever the kernel looks") {
    for (const Nanoseconds tick : {100, 700, 1000, 3000}) {
        Processor processor;
        processor.with({0, 1, 2});
        std::map<Thread, Nanoseconds> had;
        Thread runs = 0;
        for (int look = 0; look < 3000; ++look) {
            processor.queue.charge(tick);
            had[runs] += tick;
            if (processor.queue.tick()) runs = processor.picked();
        }
        for (const auto& [thread, time] : had) CHECK(std::abs(time - 1000 * tick) <= 2 * std::max(slice, tick));
    }
}

TEST_CASE("who runs keeps the processor until its slice is used up, and not longer than to the next look") {
    Processor processor;
    processor.with({0, 1});
    processor.queue.charge(slice / 2 - 1);  // the first slice of a thread is half a slice
    CHECK(!processor.queue.tick());
    processor.queue.charge(1);
    CHECK(processor.queue.tick());
    CHECK(processor.picked() == 1);
}

TEST_CASE("nobody has to go while nobody else queues") {
    Processor processor;
    processor.with({0});
    processor.queue.charge(10 * slice);
    CHECK(!processor.queue.tick());
}

TEST_CASE("a yield uses up the slice: it costs a slice beside a thread that never yields") {
    Processor processor;
    processor.with({0, 1});
    processor.queue.yield();
    CHECK(processor.picked() == 1);
    CHECK(processor.shares[0].virtual_time == slice / 2);
    processor.queue.charge(slice / 2 + slice);
    CHECK(processor.queue.tick());
    CHECK(processor.picked() == 0);
    processor.queue.yield();
    CHECK(processor.shares[0].virtual_time == slice / 2 + slice);
}

TEST_CASE("a yield of someone who is ahead of the average already costs nothing more") {
    Processor processor;
    processor.with({0, 1});
    processor.queue.charge(10);
    processor.queue.yield();
    CHECK(processor.shares[0].virtual_time == 10);
    CHECK(processor.picked() == 1);
}

TEST_CASE("before Linux 6.17 a yield postponed the deadline and used up nothing") {
    Processor processor(false);
    processor.with({0, 1});
    processor.queue.yield();
    CHECK(processor.shares[0].virtual_time == 0);
    CHECK(processor.shares[0].deadline == slice / 2 + slice);
    CHECK(processor.picked() == 1);
    processor.queue.charge(1);
    CHECK(processor.queue.preempts(0));  // it had nothing, so it is soon behind the average again
}

TEST_CASE("a sleeper that was behind the average preempts, one that was ahead of it does not") {
    Processor processor;
    processor.with({0, 1});
    processor.queue.charge(100);  // thread 0 is 50 ahead of the average, thread 1 as much behind
    processor.queue.run(1);
    processor.queue.sleep();
    CHECK(processor.shares[1].lag == 50);
    CHECK(processor.picked() == 0);
    processor.queue.charge(5000);
    processor.queue.wake(1);
    CHECK(processor.shares[0].virtual_time - processor.shares[1].virtual_time == 2 * 50);
    CHECK(processor.queue.preempts(1));

    processor.queue.run(1);
    processor.queue.charge(300);
    processor.queue.sleep();  // now it is 100 ahead, and queues until the average has come to it
    CHECK(processor.queue.size() == 2);
    CHECK(processor.picked() == 0);
    processor.queue.charge(100);
    processor.queue.wake(1);
    CHECK(!processor.queue.preempts(1));
}

TEST_CASE("a sleeper that has paid for being ahead is as far as the average, and preempts who is ahead of that") {
    Processor processor;
    processor.with({0, 1});
    processor.queue.charge(300);
    processor.queue.sleep();
    CHECK(processor.shares[0].leaving);
    CHECK(processor.picked() == 1);
    processor.queue.charge(1000);
    processor.queue.wake(0);
    CHECK(!processor.shares[0].leaving);
    CHECK(processor.shares[0].virtual_time == 1000);
    CHECK(processor.queue.size() == 2);
}

TEST_CASE("who is leaving and comes up has left, without what it would have had to get") {
    Processor processor;
    processor.with({0, 1});
    processor.queue.charge(300);
    processor.queue.sleep();
    CHECK(processor.picked() == 1);
    processor.queue.charge(301 + slice);
    CHECK(processor.queue.tick());
    CHECK(*processor.queue.pick() == 1);
    CHECK(processor.queue.size() == 1);
    CHECK(processor.shares[0].lag == 0);
}

TEST_CASE("nobody saves up more than two slices or a tick") {
    Processor processor;
    processor.with({0, 1});
    processor.queue.charge(1000 * slice);
    processor.queue.run(1);
    processor.queue.sleep();
    CHECK(processor.shares[1].lag == 3000);
}
