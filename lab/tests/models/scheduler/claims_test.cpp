// SPDX-License-Identifier: Apache-2.0
// The claims of Markatos et al. 1991 about barriers on too few processors, with the numbers of the text.
#include "crowd.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

using namespace crowd;

namespace {

double overhead_pct(const Application& application) {
    const double b = 0.625 * switch_us;  // what their Figures 4 and 5 need a barrier to cost
    const double t8 = per_barrier_us(machine(8), application), t16 = per_barrier_us(machine(16), application);
    return 100 * ((t8 + b) / (2 * (t16 + b)) - 1);
}

/// Quanta a barrier of a spinning tree when threads `a` and `b` share processor 0 and all others sit alone.
double quanta_of_pair(std::uint32_t a, std::uint32_t b) {
    Application application = spinning("tree", 1000, 400);
    application.placement = Placement::given;
    std::uint32_t alone = 0;
    for (std::uint32_t thread = 0; thread < 16; ++thread)
        application.processor_of.push_back(thread == a || thread == b ? 0 : ++alone);
    return per_barrier_us(free_switches(15), application) / quantum_us;
}

}  // namespace

TEST_CASE("a centralized spinning barrier costs one quantum while computing takes less than half of one") {
    for (const double compute_us : {1.0, 10.0, 100.0, 1000.0, 5000.0, 9000.0, 9999.0}) {
        CAPTURE(compute_us);
        CHECK(per_barrier_us(free_switches(15), spinning("centralized", compute_us)) ==
              doctest::Approx(quantum_us).epsilon(0.002));
    }
}

TEST_CASE("beyond half a quantum it costs Q (2R - 1) / R; the paper's body prints T for Q") {
    for (int percent = 101; percent < 200; percent += 6) {
        const double compute_us = 10000, quantum = compute_us * percent / 100;
        const int R = (100 + percent - 101) / (percent - 100);  // ceil(1 / (Q/T - 1)) in whole numbers
        Machine crowded = free_switches(15);
        crowded.quantum_us = quantum;
        const double simulated = per_barrier_us(crowded, spinning("centralized", compute_us));
        CAPTURE(percent);
        CHECK(simulated == doctest::Approx(quantum * (2 * R - 1) / R).epsilon(0.002));
        CHECK(simulated > 1.005 * compute_us * (2 * R - 1) / R);
    }
}

TEST_CASE("at 12 ms of computing and 20 ms quanta a centralized spinning barrier takes 30 ms") {
    CHECK(per_barrier_us(free_switches(15), spinning("centralized", 12000)) == doctest::Approx(30000).epsilon(0.002));
}

TEST_CASE("a spinning tree costs two quanta for 48 of the 120 pairs on one processor, one for the other 72") {
    int two = 0, one = 0;
    for (std::uint32_t a = 0; a < 16; ++a)
        for (std::uint32_t b = a + 1; b < 16; ++b) {
            const double quanta = quanta_of_pair(a, b);
            two += std::abs(quanta - 2) < 0.006;
            one += std::abs(quanta - 1) < 0.006;
        }
    CHECK(two == 48);
    CHECK(one == 72);
    CHECK(quanta_of_pair(0, 1) == 2);
}

TEST_CASE("a spinning tree never beats a centralized spinning barrier") {
    for (const double compute_us : {1.0, 1000.0, 9000.0, 12000.0, 16000.0, 19999.0, 25000.0, 38000.0}) {
        CAPTURE(compute_us);
        CHECK(per_barrier_us(free_switches(15), spinning("tree", compute_us)) * 1.001 >=
              per_barrier_us(free_switches(15), spinning("centralized", compute_us)));
    }
}

TEST_CASE("a blocking tree is smooth where a spinning one has steps") {
    for (const auto& [compute_us, ratio] :
         {std::pair{500.0, 1.208}, {2000.0, 1.055}, {10000.0, 1.014}, {20000.0, 1.01}}) {
        CAPTURE(compute_us);
        CHECK(per_barrier_us(machine(15), blocking("tree", compute_us)) / (2 * compute_us) ==
              doctest::Approx(ratio).epsilon(0.002));
    }
}

TEST_CASE("a blocking tree, cyclic, 16 on 8: below 10 % at 20 switches, 34 to 44 % at 4, 140 to 170 % at one half") {
    CHECK(overhead_pct(blocking("tree", 20 * switch_us)) < 10);
    const double at_4 = overhead_pct(blocking("tree", 4 * switch_us));
    CHECK(at_4 >= 34);
    CHECK(at_4 <= 44);
    const double at_half = overhead_pct(blocking("tree", 0.5 * switch_us));
    CHECK(at_half >= 140);
    CHECK(at_half <= 170);
}

TEST_CASE("a combination barrier, 16 on 8: below 10 % at 4 switches, below 2 % at 20, at most 30 % below one") {
    CHECK(overhead_pct(blocking("combination", 4 * switch_us)) < 10);
    CHECK(overhead_pct(blocking("combination", 20 * switch_us)) < 2);
    // 30 % is what the share tends to without any computing; 60 barriers add the switch of threads that leave.
    for (const double switches : {0.05, 0.1, 0.25, 0.5, 0.75, 0.99})
        CHECK(overhead_pct(blocking("combination", switches * switch_us)) <= 30);
}

TEST_CASE("completion time has steps at 16, 8, 6, 4, 3 and 2 processors only, within 2 % of ceil(16 / P)") {
    for (const char* const barrier : {"centralized", "tree", "combination"}) {
        double before = 0;
        for (std::uint32_t processors = 16; processors >= 1; --processors) {
            const double ratio = per_barrier_us(machine(processors), blocking(barrier, 45000)) / 45000;
            const std::uint32_t most = (16 + processors - 1) / processors;
            CAPTURE(barrier);
            CAPTURE(processors);
            CHECK(ratio == doctest::Approx(most).epsilon(0.02));
            const bool step = before > 0 && ratio > 1.1 * before;
            // Fewer than 16, 8, 6, 4, 3, 2: the next processor taken away is felt.
            const bool expected = processors == 15 || processors == 7 || processors == 5 || processors <= 3;
            CHECK(step == expected);
            before = ratio;
        }
    }
}

TEST_CASE("10^6 quanta are a few events each") {
    const Outcome outcome = simulate(free_switches(15), {spinning("centralized", 1000, 1000000)});
    CHECK(outcome.quanta >= 999990);
    CHECK(outcome.events <= 4 * outcome.quanta);
}
