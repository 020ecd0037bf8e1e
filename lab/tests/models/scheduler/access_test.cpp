// SPDX-License-Identifier: Apache-2.0
// Words of memory that serve one access at a time: what a barrier costs then, derived step by step.
#include "crowd.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace crowd;

namespace {

constexpr double compute_us = 1000;

Machine serving(std::uint32_t processors, double access_us) {
    Machine on = free_switches(processors);
    on.access_us = access_us;
    return on;
}

/// One barrier of threads that have a processor each and come at the same time: what it adds to the computing, in
/// accesses of 2 us.
double accesses(const std::string& barrier, std::uint32_t threads, double last_computes_us = compute_us) {
    Application application = spinning(barrier, compute_us, 1);
    application.profile_us.assign(threads, {compute_us});
    application.profile_us.back() = {last_computes_us};
    return (simulate(serving(threads, 2), {application}).completed_us - last_computes_us) / 2;
}

}  // namespace

TEST_CASE("arrivals at a counter take turns, and so do those who read in it that it is full") {
    // The k-th arrival has had the counter after k accesses. The last one sees it full and leaves; the others, who
    // poll it, need an access each: n + (n - 1).
    for (const std::uint32_t threads : {2u, 5u, 16u, 64u}) CHECK(accesses("centralized", threads) == 2 * threads - 1);
}

TEST_CASE("a late arrival at a counter waits for all who poll it") {
    // 15 poll when the last one comes: 16 accesses; then 15 read.
    CHECK(accesses("centralized", 16, 2000) == 16 + 15);
    CHECK(accesses("centralized", 2, 2000) == 2 + 1);
}

TEST_CASE("arrivals at a tree wait for their siblings and for the parent that polls") {
    // 0: ?1 ?2 ?3 ?4 !1 !2   1: !0 ?0 !3 !4   2: !0 ?0   3: !0 ?1   4: !0 ?1
    // Rank 0 polls: the signals of 1, 2, 3, 4 end at 2, 3, 4, 5. It reads until 6, signals 1 (which polls) until 8, 2
    // until 10. Rank 1 reads until 9, signals 3 until 11 and 4 until 13, which reads until 14.
    CHECK(accesses("tree", 5) == 14);
    // 0: ?1 !1   1: !0 ?0: the signal until 2, read 3, signal 5, read 6.
    CHECK(accesses("tree", 2) == 6);
}

TEST_CASE("the last thread at a role goes on for all, and its release leaves with its signals") {
    // 0: !a ?a   1: !a ?a   2: !b ?b   3: !b ?b   a: ?0 ?1 ?b !b !0 !1   b: ?2 ?3 !a ?a !2 !3
    // Both counters are full at 2. The player of b signals a until 3; the player of a, which looks there for free,
    // signals b, where the other player polls, until 5, and releases; its partner reads until 6. The player of b reads
    // until 6 and releases until 8, as its partner polls, which reads until 9.
    CHECK(accesses("turnstile@2/central", 4) == 9);
}

TEST_CASE("in a dissemination everybody has a word of its own") {
    // Two ranks: each signals the other, which has not come to poll yet, until 1; both read until 2.
    CHECK(accesses("dissemination", 2) == 2);
}

TEST_CASE("a counter costs in proportion to its threads, a tree to its levels") {
    CHECK(accesses("centralized", 256) > 3.9 * accesses("centralized", 64));
    CHECK(accesses("tree", 256) < 1.5 * accesses("tree", 64));
    CHECK(accesses("tree", 256) < accesses("centralized", 256));
}

TEST_CASE("threads of one processor do not meet at their counter: arrivals take one access each") {
    // One processor: nobody polls while another thread runs.
    Application application = blocking("centralized", compute_us);
    application.threads = 4;
    application.barriers = 1;
    const Outcome outcome = simulate(serving(1, 2), {application});
    // 4 arrivals and 3 readings; switches are free.
    CHECK(outcome.completed_us == 4 * compute_us + 2 * (4 + 3));
}

TEST_CASE("an access that the quantum ends goes on when its thread runs again") {
    Application application = spinning("centralized", compute_us, 1);
    application.threads = 2;
    Machine on = serving(1, 600);
    on.quantum_us = 1500;
    // Thread 0 computes until 1000 and has 500 of its access; thread 1 likewise until 3000. Thread 0 has arrived at
    // 3100 and polls until 4500; thread 1 has arrived at 4600, sees the counter full, and leaves; thread 0 reads until
    // 5200.
    CHECK(simulate(on, {application}).completed_us == 5200);
}

TEST_CASE("where accesses take time the books balance and everybody computes as often") {
    for (const char* const barrier : {"centralized", "tree", "combination", "dissemination", "turnstile@2/turnstile"})
        for (const Waiting waiting : {Waiting::spin, Waiting::smart, Waiting::naive})
            for (const double switch_us : {0.0, 100.0}) {
                CAPTURE(barrier);
                CAPTURE(static_cast<int>(waiting));
                Application application = blocking(barrier, compute_us, Placement::cyclic, waiting);
                application.variation = 0.3;
                Machine on = serving(5, 3);
                on.switch_us = switch_us;
                const Outcome outcome = simulate(on, {application});
                CHECK(outcome.computing_us == doctest::Approx(16 * 60 * compute_us).epsilon(0.02));
                CHECK(outcome.computing_us + outcome.spinning_us + outcome.switching_us + outcome.idle_us ==
                      doctest::Approx(5 * outcome.completed_us).epsilon(1e-12));
            }
}
