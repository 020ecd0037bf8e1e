// SPDX-License-Identifier: Apache-2.0
// Recorded programs with messages between barriers: who waits for whom, and when it ends, derived by hand.
#include "crowd.hpp"
#include "refusal.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace crowd;

namespace {

using Events = std::vector<std::vector<Event>>;

Event compute(double us) { return {.kind = Event::Kind::compute, .us = us}; }
Event send(std::uint32_t to) { return {.kind = Event::Kind::send, .thread = to}; }
Event receive(std::uint32_t from) { return {.kind = Event::Kind::receive, .thread = from}; }
const Event barrier{.kind = Event::Kind::barrier};

Application recorded(const Events& events, Waiting waiting = Waiting::spin) {
    Application application;
    application.events = events;
    application.waiting = waiting;
    return application;
}

double completed_us(const Events& events, std::uint32_t processors, Waiting waiting = Waiting::spin) {
    return simulate(free_switches(processors), {recorded(events, waiting)}).completed_us;
}

/// Thread 1 has to hear of thread 0 before it can compute.
const Events chain{{compute(1000), send(1), barrier}, {receive(0), compute(500), barrier}};
/// The same, but thread 0, which has its turn first, is the one that waits.
const Events backwards{{receive(1), compute(500), barrier}, {compute(1000), send(0), barrier}};

}  // namespace

TEST_CASE("a receive waits for its message, and a send for nobody") {
    CHECK(completed_us(chain, 2) == 1500);
    CHECK(completed_us(backwards, 2) == 1500);
    // The message of thread 0 is there at 1000, long before thread 1 takes it.
    const Outcome early = simulate(free_switches(2), {recorded({{compute(1000), send(1), compute(2000), barrier},
                                                                {compute(2500), receive(0), compute(1500), barrier}})});
    CHECK(early.completed_us == 4000);
    CHECK(early.spinning_us == 1000);  // thread 0, at the barrier
    CHECK(early.computing_us == 1000 + 2000 + 2500 + 1500);
}

TEST_CASE("threads that exchange wait for the later one, and others do not") {
    // 0 and 1 have exchanged at 3000, 2 and 3 at 2000; then 0 to 3 meet.
    const auto pair = [](double us, std::uint32_t other, double after_us) {
        return std::vector<Event>{compute(us), send(other), receive(other), compute(after_us), barrier};
    };
    const Events events{pair(1000, 1, 100), pair(3000, 0, 200), pair(2000, 3, 2500), pair(500, 2, 300)};
    const Outcome outcome = simulate(free_switches(4), {recorded(events)});
    CHECK(outcome.completed_us == 4500);
    CHECK(outcome.spinning_us == 4 * 4500 - (1100 + 3200 + 4500 + 800));
}

TEST_CASE("who waits for a message yields as it does at a barrier") {
    // On one processor: who spins keeps it until the quantum of 20 ms ends, who yields gives it to the sender at once.
    CHECK(completed_us(backwards, 1, Waiting::smart) == 1500);
    CHECK(completed_us(backwards, 1, Waiting::naive) == 1500);
    // Thread 1 computes from 20 to 21 ms and spins at the barrier until 40; then thread 0 computes.
    CHECK(completed_us(backwards, 1) == 40500);
    CHECK(completed_us(chain, 1, Waiting::smart) == 1500);
}

TEST_CASE("messages of one thread are received one by one, also those of later episodes") {
    const Events events{{send(1), send(1), compute(100), barrier, send(1), barrier},
                        {receive(0), compute(10), barrier, receive(0), receive(0), compute(1000), barrier}};
    CHECK(completed_us(events, 2) == 1100);
}

TEST_CASE("events may begin with anything, and a thread may do nothing but meet") {
    CHECK(completed_us({{barrier},
                        {
                            barrier,
                        }},
                       2) == 0);
    CHECK(completed_us({{barrier, compute(10), barrier}, {compute(20), barrier, barrier}}, 2) == 30);
    CHECK(completed_us({{compute(5), compute(10), barrier}, {barrier}}, 2) == 15);
}

TEST_CASE("computing and barriers alone are a profile of times") {
    for (const Waiting waiting : {Waiting::spin, Waiting::smart, Waiting::naive})
        for (const std::uint32_t processors : {1u, 2u, 3u}) {
            Application times;
            times.waiting = waiting;
            times.barrier = "tree";
            Application events = times;
            for (std::uint32_t thread = 0; thread < 5; ++thread) {
                times.profile_us.emplace_back();
                events.events.emplace_back();
                for (std::uint32_t episode = 0; episode < 20; ++episode) {
                    const double us = 100 + 37 * ((thread * 7 + episode * 3) % 11);
                    times.profile_us.back().push_back(us);
                    events.events.back().insert(events.events.back().end(), {compute(us), barrier});
                }
            }
            const Outcome one = simulate(machine(processors), {times}), other = simulate(machine(processors), {events});
            CHECK(one.completed_us == other.completed_us);
            CHECK(one.switches == other.switches);
            CHECK(one.applications[0].floor_us == other.applications[0].floor_us);
        }
}

TEST_CASE("a message costs its sender and its receiver an access each") {
    Machine on = free_switches(2);
    on.access_us = 2;
    // Thread 1 polls its word, so the send has it after two accesses, at 1004; it reads until 1006 and computes until
    // 1506. Thread 0 arrives at the counter at 1006 and polls, so thread 1 arrives at 1510, and thread 0 reads until
    // 1512.
    CHECK(simulate(on, {recorded(chain)}).completed_us == 1512);
}

TEST_CASE("a sleeper is woken by the message it waits for") {
    Machine fair{.processors = 2, .quantum_us = 3000, .switch_us = 1, .kernel = Kernel::fair};
    fair.wake_us = 2;
    // Thread 1 sleeps at once. At 1000 thread 0 sends, wakes it until 1002 and sleeps at the barrier. Thread 1 is
    // switched to until 1003, computes until 1503, opens the barrier, and wakes thread 0 until 1505, which leaves at
    // 1506.
    CHECK(simulate(fair, {recorded(chain, Waiting::smart)}).completed_us == 1506);
}

TEST_CASE("the books balance where threads exchange with both neighbours") {
    Events events;
    constexpr std::uint32_t threads = 8;
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
        events.emplace_back();
        for (std::uint32_t episode = 0; episode < 30; ++episode) {
            events.back().push_back(compute(100.0 * (1 + (thread + episode) % 5)));
            for (const std::uint32_t step : {1u, threads - 1}) events.back().push_back(send((thread + step) % threads));
            for (const std::uint32_t step : {1u, threads - 1})
                events.back().push_back(receive((thread + step) % threads));
            if (episode % 3 == 2) events.back().push_back(barrier);
        }
    }
    for (const Waiting waiting : {Waiting::spin, Waiting::smart, Waiting::naive})
        for (const std::uint32_t processors : {1u, 3u, 8u}) {
            const Outcome outcome = simulate(machine(processors), {recorded(events, waiting)});
            CHECK(outcome.computing_us == 8 * 30 * 300);
            CHECK(outcome.applications[0].barriers == 10);
            CHECK(outcome.computing_us + outcome.spinning_us + outcome.switching_us + outcome.idle_us ==
                  doctest::Approx(processors * outcome.completed_us).epsilon(1e-12));
        }
}

TEST_CASE("events that cannot be run to their end are refused before") {
    const auto refused = [](const Events& events) {
        return refusal([&] { simulate(machine(2), {recorded(events)}); });
    };
    CHECK(refused({{receive(1), send(1), barrier}, {receive(0), send(0), barrier}}) ==
          "nobody can go on: thread 0 waits for ever to receive from thread 1, as its event 0");
    CHECK(refused({{compute(1), barrier, receive(1), barrier}, {barrier, compute(1), barrier}}) ==
          "nobody can go on: thread 0 waits for ever to receive from thread 1, as its event 2");
    CHECK(refused({{send(1), barrier}, {barrier}}) == "thread 1 does not receive all that thread 0 sends to it");
    CHECK(refused({{barrier, send(1)}, {receive(0), barrier}}) == "the last event of thread 0 is no barrier");
    CHECK(refused({{barrier}, {}}) == "the last event of thread 1 is no barrier");
    CHECK(refused({{barrier}, {barrier, barrier}}) ==
          "thread 1 has 2 barriers, thread 0 1; at a barrier all threads meet equally often");
    CHECK(refused({{send(0), barrier}, {barrier}}) == "thread 0 sends to itself");
    CHECK(refused({{barrier}, {receive(2), barrier}}) == "thread 1 receives from thread 2; there are 0..1");
    CHECK(refused({{compute(-1), barrier}, {barrier}}) ==
          "a computing time of thread 0 is a time from 0 to 1e12 us, not -1");
    Application both = recorded({{barrier}, {barrier}});
    both.profile_us = {{1}, {1}};
    CHECK(refusal([&] { simulate(machine(2), {both}); }) == "a profile has computing times or events, not both");
}
