// SPDX-License-Identifier: Apache-2.0
// Simulated cores: every barrier is one, the same question has the same answer, and what makes no sense is refused.
#include <tollbar/algorithms.hpp>
#include <tollbar/models/cores.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

using namespace tollbar;
using namespace tollbar::cores;

namespace {

std::vector<std::string> everything() {
    std::vector<std::string> all = peers();
    for (const std::string& name : published_names()) all.push_back(name);
    for (const Algorithm& algorithm : catalogue())
        if (algorithm.runs_everywhere()) all.emplace_back(algorithm.name);
    all.insert(all.end(), {"tollbar::barrier", "one-word", "combination/pairwise", "mcs:2,2"});
    return all;
}

}  // namespace

TEST_CASE("nobody leaves any of the barriers early, and everybody leaves") {
    for (const std::string& barrier : everything())
        for (const std::uint32_t threads : {2U, 3U, 5U, 8U, 11U, 20U})
            for (const double spread_ns : {0.0, 700.0}) {
                INFO(barrier << " of " << threads << " over " << spread_ns);
                const Outcome outcome = simulate(
                    machine("epyc"), {.barrier = barrier, .threads = threads, .episodes = 6, .spread_ns = spread_ns});
                CHECK(outcome.barrier_ns > 0);
            }
}

TEST_CASE("the same question has the same answer to the last digit") {
    for (const char* barrier : {"tollbar::barrier", "pairwise", "std::barrier"}) {
        const CoresRun asked{.barrier = barrier, .threads = 24, .spread_ns = 500, .seed = 3};
        const Outcome once = simulate(machine("mesh"), asked);
        const Outcome again = simulate(machine("mesh"), asked);
        CHECK(once.barrier_ns == again.barrier_ns);
        CHECK(once.events == again.events);
        CoresRun other = asked;
        other.seed = 4;
        CHECK(simulate(machine("mesh"), other).barrier_ns != once.barrier_ns);
    }
}

TEST_CASE("two threads that share a cache meet sooner than two on two sockets") {
    Machine machine = cores::machine("epyc");
    const double near_ns = simulate(machine, {.barrier = "pairwise"}).barrier_ns;
    machine.cores = {{0, 0}, {1, 1}};
    CHECK(simulate(machine, {.barrier = "pairwise"}).barrier_ns > 4 * near_ns);
}

TEST_CASE("spread threads pay for their distance, shuffled ranks for not knowing it") {
    const CoresRun compact{.barrier = "pairwise", .threads = 8, .placement = Placement::compact};
    CoresRun spread = compact;
    spread.placement = Placement::spread;
    CHECK(simulate(machine("epyc"), spread).barrier_ns > 2 * simulate(machine("epyc"), compact).barrier_ns);

    const CoresRun known{.barrier = "pairwise", .threads = 64};
    CoresRun unknown = known;
    unknown.placement = Placement::shuffled;
    CHECK(simulate(machine("epyc"), unknown).barrier_ns > simulate(machine("epyc"), known).barrier_ns);
}

TEST_CASE("a cluster's additions stay in its cache: few misses a thread") {
    const Outcome outcome = simulate(machine("epyc"), {.barrier = "one-word", .threads = 8});
    CHECK(outcome.misses <= 2.01 * 8);
}

TEST_CASE("a watcher may end the simulation") {
    const CoresRun asked{.barrier = "one-word", .threads = 64, .episodes = 1000};
    CHECK_THROWS_WITH(simulate(machine("epyc"), asked, [](const Progress&) { throw std::runtime_error("enough"); }),
                      "enough");
    CHECK(simulate(machine("epyc"), {.threads = 2}).barrier_ns > 0);  // another is as if nothing had been
}

TEST_CASE("what does not fit is refused by name") {
    const Machine epyc = machine("epyc");
    CHECK_THROWS_WITH_AS(machine("cray"),
                         "there is no machine 'cray'; there are epyc, mesh, graviton2, icelake, skylake",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(simulate(epyc, {.threads = 129}), "machine 'epyc' has cores for 2 to 128 threads, not 129",
                         std::invalid_argument);
    CHECK_THROWS_AS(simulate(epyc, {.threads = 1}), std::invalid_argument);
    CHECK_THROWS_AS(simulate(epyc, {.episodes = 0}), std::invalid_argument);
    CHECK_THROWS_AS(simulate(epyc, {.spread_ns = -1}), std::invalid_argument);
    CHECK_THROWS_AS(simulate(epyc, {.barrier = "sleepy"}), std::invalid_argument);
    CHECK_THROWS_AS(one_way_ns(epyc, 3, 3), std::invalid_argument);
    CHECK_THROWS_AS(contended_add_ns(epyc, 129), std::invalid_argument);
    CHECK_THROWS_AS(in_order(8, 3, 4), std::invalid_argument);
}

TEST_CASE("a machine that cannot be is refused by the parameter") {
    const auto refuses = [](auto change, const std::string& what) {
        Machine machine = cores::machine("mesh");
        change(machine);
        try {
            check(machine);
            FAIL("accepted although " << what);
        } catch (const std::invalid_argument& error) {
            CHECK(std::string(error.what()).find(what) != std::string::npos);
        }
    };
    refuses([](Machine& machine) { machine.cores.resize(1); }, "2 to 256 cores, not 1");
    refuses([](Machine& machine) { machine.cores[0].cluster = 256; }, "numbered from 0 to 255");
    refuses([](Machine& machine) { machine.cluster_ns = std::numeric_limits<double>::quiet_NaN(); },
            "cluster_ns is from");
    refuses([](Machine& machine) { machine.far_ns = 0; }, "takes time from core to core");
    refuses([](Machine& machine) { machine.busy = 1.5; }, "busy is from 0 to 1, not 1.5");
    refuses([](Machine& machine) { machine.held = -1; }, "held is from");
    refuses([](Machine& machine) { machine.pause_ns = machine.hit_ns = 0; }, "a poll takes time");
}
