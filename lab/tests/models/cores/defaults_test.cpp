// SPDX-License-Identifier: Apache-2.0
// The plan of pinned threads where nothing was measured, on simulated caches, against every plan that could be chosen.
#include <tollbar/algorithms.hpp>
#include <tollbar/models/cores.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

using namespace tollbar;
using namespace tollbar::cores;

namespace {

std::vector<std::string> candidates(std::uint32_t threads) {
    std::vector<std::string> plans{"dissemination:2", "dissemination:3", "combination/pairwise",
                                   "combination/turnstile"};
    if (threads <= 8) plans.push_back("dissemination:7");
    for (const Algorithm& algorithm : catalogue())
        if (algorithm.runs_everywhere()) plans.emplace_back(algorithm.name);
    return plans;
}

double barrier_ns(const Machine& machine, const std::string& barrier, std::uint32_t threads, Placement placement) {
    return simulate(machine, {.barrier = barrier, .threads = threads, .placement = placement, .episodes = 20})
        .barrier_ns;
}

/// How many times as long as the best candidate the default takes.
double times_best(const Machine& machine, std::uint32_t threads, Placement placement) {
    double best = 1e9;
    for (const std::string& plan : candidates(threads))
        best = std::min(best, barrier_ns(machine, plan, threads, placement));
    return barrier_ns(machine, "auto", threads, placement) / best;
}

std::vector<std::uint32_t> some_sizes() {
    std::vector<std::uint32_t> sizes(23);
    std::iota(sizes.begin(), sizes.end(), 2);  // 2 to 24
    sizes.insert(sizes.end(), {31, 32, 33, 40, 49, 63, 64, 65, 72, 81, 96, 100, 105, 113, 127, 128});
    return sizes;
}

}  // namespace

TEST_CASE("the default takes at most a quarter longer than the best plan, at any size and place") {
    for (const char* name : {"epyc", "mesh"})
        for (const auto placement : {Placement::compact, Placement::spread, Placement::shuffled})
            for (const std::uint32_t threads : some_sizes()) {
                INFO(std::string(name) << ", " << threads << " threads, placement " << static_cast<int>(placement));
                CHECK(times_best(machine(name), threads, placement) <= 1.25);
            }
}

TEST_CASE("ranks in any order take slots near each other, and lose nothing") {
    for (const char* name : {"epyc", "mesh"}) {
        const double in_order = barrier_ns(machine(name), "auto", 128, Placement::compact);
        CHECK(barrier_ns(machine(name), "auto", 128, Placement::shuffled) <= 1.1 * in_order);
    }
}

TEST_CASE("clusters of any number and size have a default that is a barrier") {
    for (std::uint32_t clusters = 1; clusters <= 8; ++clusters)
        for (const std::uint32_t cores : {2U, 5U, 8U}) {
            Machine machine = cores::machine("epyc");
            machine.cores = in_order(clusters * cores, cores, clusters * cores);
            INFO(clusters << " clusters of " << cores);
            CHECK(barrier_ns(machine, "auto", clusters * cores, Placement::shuffled) > 0);
            if (clusters > 1) CHECK(barrier_ns(machine, "auto", clusters * cores - 1, Placement::compact) > 0);
        }
}
