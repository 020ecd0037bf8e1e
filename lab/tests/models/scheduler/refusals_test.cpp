// SPDX-License-Identifier: Apache-2.0
// The arguments that the scheduler simulator refuses, and in which words.
#include "crowd.hpp"
#include "refusal.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

using namespace crowd;

namespace {

std::string refused(const Machine& machine, const std::vector<Application>& applications = {Application{}},
                    const Window& window = {}) {
    return refusal([&] { simulate(machine, applications, window); });
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("a machine has processors, a quantum, and switches of finite length") {
    CHECK(refused({.processors = 0}) == "a machine has 1 to 1048576 processors, not 0");
    CHECK(refused({.quantum_us = 0}) == "the quantum is a time from 0.001 to 1e12 us, not 0");
    CHECK(refused({.quantum_us = -5}) == "the quantum is a time from 0.001 to 1e12 us, not -5");
    CHECK(refused({.switch_us = -1}) == "a context switch is a time from 0 to 1e12 us, not -1");
    CHECK(refused({.access_us = -1}) == "an access to memory is a time from 0 to 1e12 us, not -1");
    CHECK(refused({.switch_us = nan}) == "a context switch is a time from 0 to 1e12 us, not nan");
}

TEST_CASE("an application has threads, barriers and times of at least 0") {
    CHECK(refused({}, {}) == "there is no application to simulate");
    CHECK(refused({}, {{.threads = 0}}) == "an application has 1 to 1048576 threads, not 0");
    CHECK(refused({}, {{.barriers = 0}}) == "an application has at least 1 barrier, not 0");
    CHECK(refused({}, {{.compute_us = -1}}) == "the computing time is a time from 0 to 1e12 us, not -1");
    CHECK(refused({}, {{.compute_us = nan}}) == "the computing time is a time from 0 to 1e12 us, not nan");
    CHECK(refused({}, {{.variation = 1.5}}) == "the variation is a share from 0 to 1 of the computing time, not 1.5");
    CHECK(refused({}, {{.arrival_us = -1}}) == "the arrival is a time from 0 to 1e12 us, not -1");
    CHECK(refused({}, {{}, {.arrival_us = -1}}) == "application 1: the arrival is a time from 0 to 1e12 us, not -1");
}

TEST_CASE("a barrier is one of three or a plan") {
    const std::string said = refused({}, {{.barrier = "sense"}});
    CHECK(said.starts_with("the barrier is centralized, tree, combination or a plan; as a plan: "));
    CHECK(said.find("sense") != std::string::npos);
}

TEST_CASE("what only a network card or a switch can run is refused, with the reason") {
    CHECK(refused({}, {{.barrier = "switch"}})
              .ends_with("'switch' is for a switch that counts, not for threads on "
                         "processors"));
    CHECK(refused({}, {{.barrier = "turnstile/card:pairwise"}}).find("is for NICs") != std::string::npos);
}

TEST_CASE("more processors than threads are refused") {
    CHECK(refused({.processors = 17}) ==
          "17 processors are more than the 16 threads; give the machine at most one a thread");
    CHECK(refused({.processors = 8}, {{.threads = 2, .processors = 4}, {}}) ==
          "application 0: 4 processors are more than its 2 threads; give it at most one a thread");
}

TEST_CASE("partitions fit into the machine, and only that policy has them") {
    CHECK(refused({.processors = 2}, {{}, {}, {}}) == "the partitions need at least 3 processors, the machine has 2");
    CHECK(refused({.processors = 8}, {{.processors = 8}, {}}) ==
          "the partitions need at least 9 processors, the machine has 8");
    CHECK(refused({.processors = 8, .policy = Policy::global}, {{.processors = 4}}) ==
          "only the policy partition gives an application processors of its own");
}

TEST_CASE("a placement names a processor that exists for each thread") {
    Application application{.threads = 3, .placement = Placement::given, .processor_of = {0, 1}};
    CHECK(refused({.processors = 2}, {application}) == "the placement names a processor for 2 threads, not for all 3");
    application.processor_of = {0, 1, 2};
    CHECK(refused({.processors = 2}, {application}) == "thread 2 is placed on processor 2; there are 0..1");
}

TEST_CASE("all threads of a profile meet equally often") {
    CHECK(refused({.processors = 2}, {{.profile_us = {{1, 2}, {3}}}}) ==
          "thread 1 computes 1 times, thread 0 2 times; at a barrier all threads meet equally often");
    CHECK(refused({.processors = 2}, {{.profile_us = {{1, 2}, {3, -4}}}}) ==
          "a computing time of thread 1 is a time from 0 to 1e12 us, not -4");
}

TEST_CASE("switches that leave nothing of a quantum are noticed") {
    CHECK(refused({.quantum_us = 100, .switch_us = 100}, {{.compute_us = 1000}}) ==
          "nothing moves: a context switch of 100000 ns leaves no time in a quantum of 100000 ns; "
          "make the quantum longer");
}

TEST_CASE("a fair kernel has a queue a processor, and switches that take less than a slice") {
    Machine fair{.processors = 2, .quantum_us = 1000, .switch_us = 1, .kernel = Kernel::fair};
    fair.policy = Policy::global;
    CHECK(refused(fair) == "a fair kernel has a queue a processor; it knows only the policy partition");
    fair.policy = Policy::partition;
    fair.access_us = 1;
    CHECK(refused(fair) ==
          "words of memory that serve one access at a time are simulated under the paper's kernel only");
    fair.access_us = 0;
    fair.switch_us = 0;
    CHECK(
        refused(fair) ==
        "under a fair kernel a context switch takes time, but less than a slice; 0 ns is not between 0 and 1000000 ns");
    fair.switch_us = 1000;
    CHECK(refused(fair).ends_with("1000000 ns is not between 0 and 1000000 ns"));
    fair.switch_us = 1;
    fair.tick_us = 0;
    CHECK(refused(fair) == "the tick is a time from 0.001 to 1e12 us, not 0");
    fair.tick_us = 4000;
    fair.wake_us = -1;
    CHECK(refused(fair) == "waking is a time from 0 to 1e12 us, not -1");
    fair.wake_us = 2;
    fair.call_us = nan;
    CHECK(refused(fair) == "a call is a time from 0 to 1e12 us, not nan");
}

TEST_CASE("neighbours never end, and yields before sleeping are those of who sleeps") {
    CHECK(refused({.policy = Policy::dedicated, .neighbours = 1}) ==
          "a neighbour never ends, so a dedicated machine would never come to others");
    CHECK(refused({.neighbours = 1u << 21}) == "there are at most 1048576 neighbours, not 2097152");
    const std::string yields = "only who waits smart under a fair kernel yields before it sleeps";
    CHECK(refused({}, {{.waiting = Waiting::smart, .yields = 1}}) == yields);
    CHECK(refused({.quantum_us = 1000, .switch_us = 1, .kernel = Kernel::fair},
                  {{.waiting = Waiting::naive, .yields = 1}}) == yields);
}

TEST_CASE("a window does not end before it begins") {
    CHECK(refused({}, {{}}, {.from_us = 5, .until_us = 4}) ==
          "the picture's window begins at 0 us or later and does not end before it begins");
}
