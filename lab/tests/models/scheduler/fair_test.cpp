// SPDX-License-Identifier: Apache-2.0
// Programs with barriers under a fair kernel, and beside neighbours that never wait.
#include "crowd.hpp"
#include "models/golden.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace crowd;

namespace {

constexpr Kernel fair_kernels[] = {Kernel::fair, Kernel::older_fair};

Machine fair(std::uint32_t processors, std::uint32_t neighbours = 0, Kernel kernel = Kernel::fair) {
    Machine on;
    on.processors = processors;
    on.quantum_us = 1400;
    on.switch_us = 1.5;
    on.kernel = kernel;
    on.neighbours = neighbours;
    return on;
}

Application program(std::uint32_t threads, Waiting waiting, double compute_us = 20, std::uint64_t barriers = 1000) {
    Application application;
    application.threads = threads;
    application.compute_us = compute_us;
    application.barriers = barriers;
    application.barrier = "turnstile";
    application.waiting = waiting;
    return application;
}

std::uint32_t whole(const golden::Row& row, const std::string& name) {
    return static_cast<std::uint32_t>(std::stoul(row.at(name)));
}

/// How long each stretch of the neighbours is.
std::vector<double> neighbours_us(const Outcome& outcome) {
    std::vector<double> us;
    for (const Span& span : outcome.history)
        if (span.activity == Activity::neighbour) us.push_back(span.until_us - span.from_us);
    return us;
}

}  // namespace

TEST_CASE("the measured and the simulated times of the golden file") {
    const std::vector<golden::Row> rows = golden::rows("beside_a_neighbour.csv");
    CHECK(rows.size() == 24);
    for (const golden::Row& row : rows) {
        const std::string& name = row.at("waiting");
        const Waiting waiting = name == "spin" ? Waiting::spin : name == "naive" ? Waiting::naive : Waiting::smart;
        Application application = program(whole(row, "threads"), waiting, 20, 2000);
        application.yields = whole(row, "yields");
        application.variation = 0.5;
        application.order = Order::shuffled;
        Machine on = fair(2, whole(row, "neighbours"));
        on.switch_us = 1.4;
        on.call_us = 12;
        const double us = per_barrier_us(on, application), measured_us = golden::number(row, "measured_us");
        CAPTURE(row.at("neighbours"));
        CAPTURE(row.at("threads"));
        CAPTURE(name);
        CAPTURE(row.at("yields"));
        CHECK(std::abs(us - golden::number(row, "simulated_us")) < 0.00501);
        CHECK(us < 1.25 * measured_us);
        CHECK(measured_us < 1.25 * us);
    }
}

TEST_CASE("neighbours and threads that compute have equal shares of a processor") {
    for (const Kernel kernel : fair_kernels)
        for (const std::uint32_t neighbours : {1, 2, 3}) {
            Application application = program(3, Waiting::spin, 1e6, 1);
            application.placement = Placement::given;
            application.processor_of = {0, 0, 0};
            const Outcome outcome = simulate(fair(1, neighbours, kernel), {application});
            // The threads end within one round of slices, which the tick stretches to 4 ms.
            CHECK(outcome.neighbours_us / outcome.computing_us == doctest::Approx(neighbours / 3.0).epsilon(0.01));
            CHECK(outcome.idle_us == 0);
        }
}

TEST_CASE("beside a neighbour a yield costs a slice, sleeping little, and spinning with a CPU for each the share") {
    const double alone_us = per_barrier_us(fair(2), program(2, Waiting::naive));
    CHECK(alone_us == 20);
    CHECK(per_barrier_us(fair(2, 1), program(2, Waiting::naive)) > 1400 / 2);
    CHECK(per_barrier_us(fair(2, 1), program(2, Waiting::smart)) < 60);
    CHECK(per_barrier_us(fair(2, 1), program(2, Waiting::spin)) == doctest::Approx(2 * alone_us).epsilon(0.01));
}

TEST_CASE("two yields before sleeping cost as much as yielding") {
    Application application = program(4, Waiting::smart);
    const double at_once_us = per_barrier_us(fair(2, 1), application);
    application.yields = 2;
    CHECK(per_barrier_us(fair(2, 1), application) > 10 * at_once_us);
    CHECK(per_barrier_us(fair(2), application) < per_barrier_us(fair(2), program(4, Waiting::smart)));
}

TEST_CASE("before Linux 6.17 a yield beside a neighbour did not cost a slice") {
    for (const std::uint32_t threads : {2, 4, 8}) {
        const double forfeited_us = per_barrier_us(fair(2, 1), program(threads, Waiting::naive));
        CHECK(per_barrier_us(fair(2, 1, Kernel::older_fair), program(threads, Waiting::naive)) < forfeited_us / 5);
    }
}

TEST_CASE("who is woken preempts the neighbour at once, until it has used more than its share") {
    const Outcome brief = simulate(fair(2, 1), {program(2, Waiting::smart, 20, 100)}, {.until_us = 1e9});
    // The neighbour has what the sleeper leaves: while the other thread computes and wakes.
    std::vector<double> had_us = neighbours_us(brief);
    std::ranges::sort(had_us);
    REQUIRE(had_us.size() >= 50);
    CHECK(had_us[had_us.size() / 2] < 40);

    // On one processor the threads want all of it, more than their two thirds.
    const Outcome greedy = simulate(fair(1, 1), {program(2, Waiting::smart, 20, 1000)}, {.until_us = 1e9});
    CHECK(greedy.neighbours_us > 0.9 * greedy.computing_us / 2);
    CHECK(std::ranges::max(neighbours_us(greedy)) > 1400);
}

TEST_CASE("a wake-up costs the waker, then the other processor hears of it and switches") {
    Machine on = fair(2);
    on.wake_us = 3;
    on.call_us = 10;
    // The last to come computes 20 us longer than the sleeper did before it slept: it wakes it in each episode.
    Application application = program(2, Waiting::smart, 0, 0);
    application.profile_us = {std::vector<double>(50, 10), std::vector<double>(50, 30)};
    const Outcome outcome = simulate(on, {application}, {.until_us = 1e9});
    CHECK(outcome.applications[0].per_barrier_us() == doctest::Approx(30 + 3).epsilon(0.01));
    CHECK(outcome.waking_us == 50 * 3);
    CHECK(outcome.switching_us == 50 * 1.5);
    for (const Span& span : outcome.history) {
        if (span.activity != Activity::idle || span.until_us == outcome.completed_us) continue;
        CHECK(span.processor == 0);
        // From the end of its computing, which the first time is that long before the other's wake-up is heard.
        const double computed_us = span.from_us == 10 ? 10 : 10 + 10 + 1.5;
        CHECK(span.until_us - span.from_us == doctest::Approx(30 + 3 + 10 - computed_us));
    }
}

TEST_CASE("whoever wakes several calls them one after the other, and its own processor's only when it is through") {
    Machine on = fair(1);
    on.wake_us = 5;
    const Outcome outcome = simulate(on, {program(4, Waiting::smart, 20, 2)}, {.until_us = 1e9});
    const auto waking = std::ranges::find(outcome.history, Activity::waking, &Span::activity);
    REQUIRE(waking != outcome.history.end());
    CHECK(waking->until_us - waking->from_us == 3 * 5);
}

TEST_CASE("spinners change at a tick only") {
    const Outcome outcome = simulate(fair(2, 1), {program(4, Waiting::spin, 20, 20)}, {.until_us = 1e9});
    for (const Span& span : outcome.history)
        // A thread that is through with its last barrier makes room at once.
        if (span.activity == Activity::switching && span.from_us < outcome.completed_us - 4000)
            CHECK(std::fmod(span.from_us, 4000) == 0);
    CHECK(outcome.quanta == std::floor(outcome.completed_us / 4000));
}

TEST_CASE("the books of a fair kernel balance, and a run is the same again") {
    for (const Kernel kernel : fair_kernels)
        for (const char* const barrier : {"centralized", "tree", "combination", "dissemination"})
            for (const Waiting waiting : {Waiting::spin, Waiting::smart, Waiting::naive})
                for (const std::uint32_t neighbours : {0, 1, 4}) {
                    Application first = program(6, waiting, 100, 30), second = first;
                    first.barrier = second.barrier = barrier;
                    second.arrival_us = 700;
                    second.variation = 0.5;
                    Machine on = fair(4, neighbours, kernel);
                    on.call_us = 4;
                    const Outcome outcome = simulate(on, {first, second}, {.until_us = 1e9});
                    CAPTURE(barrier);
                    CAPTURE(static_cast<int>(waiting));
                    CAPTURE(neighbours);
                    CHECK(outcome.applications.size() == 2);
                    CHECK(outcome.applications[0].computing_us == 6 * 30 * 100);
                    CHECK(outcome.computing_us ==
                          doctest::Approx(outcome.applications[0].computing_us + outcome.applications[1].computing_us));
                    CHECK(outcome.computing_us + outcome.spinning_us + outcome.switching_us + outcome.idle_us +
                              outcome.waking_us + outcome.neighbours_us ==
                          doctest::Approx(4 * outcome.completed_us).epsilon(1e-12));
                    CHECK((outcome.neighbours_us > 0) == (neighbours > 0));
                    for (const Completion& completion : outcome.applications)
                        CHECK(completion.elapsed_us() >= completion.floor_us);
                    CHECK(simulate(on, {first, second}).completed_us == outcome.completed_us);
                }
}

TEST_CASE("under the paper's kernel a yield beside a neighbour costs the rest of a quantum") {
    Machine on = machine(2);
    Application application = program(4, Waiting::smart, 1000, 60);
    const double alone_us = per_barrier_us(on, application);
    on.neighbours = 1;
    const double beside_us = per_barrier_us(on, application);
    CHECK(alone_us == doctest::Approx(2100).epsilon(0.02));
    CHECK(beside_us > quantum_us / 2);
    CHECK(beside_us < quantum_us);
}

TEST_CASE("coscheduled with neighbours an application has every second quantum") {
    Machine on = machine(4, 0);
    on.policy = Policy::coscheduled;
    Application application = blocking("centralized", 1100);
    application.threads = 4;
    on.neighbours = 1;
    const Outcome outcome = simulate(on, {application});
    CHECK(outcome.completed_us == doctest::Approx(2 * 60 * 1100.0).epsilon(0.2));
    CHECK(outcome.applications.size() == 1);
    CHECK(outcome.neighbours_us > 0.4 * outcome.completed_us);
    CHECK(outcome.neighbours_us < 0.6 * outcome.completed_us);  // on one of four processors
    CHECK(outcome.idle_us == doctest::Approx(3 * outcome.neighbours_us).epsilon(0.02));
}
