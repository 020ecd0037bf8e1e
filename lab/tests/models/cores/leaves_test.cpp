// SPDX-License-Identifier: Apache-2.0
// The use of leaves, on simulated caches: tollbar::barrier against the best plans, and against std::barrier.
#include <tollbar/models/cores.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace tollbar::cores;

namespace {

double barrier_ns(const std::string& machine_name, const std::string& barrier, std::uint32_t threads,
                  double spread_ns = 0, Placement placement = Placement::compact) {
    return simulate(
               machine(machine_name),
               {.barrier = barrier, .threads = threads, .placement = placement, .episodes = 20, .spread_ns = spread_ns})
        .barrier_ns;
}

double hand_overs(const std::string& machine_name, const std::string& barrier, std::uint32_t threads) {
    return simulate(machine(machine_name), {.barrier = barrier, .threads = threads, .episodes = 20}).hand_overs;
}

double best_ranked_ns(const std::string& machine_name, std::uint32_t threads, double spread_ns = 0,
                      Placement placement = Placement::compact) {
    double best = 1e9;
    for (const char* plan : {"auto", "dissemination", "dissemination:2", "dissemination:3", "pairwise", "combination",
                             "butterfly", "tournament", "combining:2"})
        best = std::min(best, barrier_ns(machine_name, plan, threads, spread_ns, placement));
    return best;
}

}  // namespace

TEST_CASE(
    "without ranks takes at most 1.3 times as long as the best ranked plan, from 16 cores on, wherever they are") {
    for (const char* machine_name : {"epyc", "mesh"})
        for (const auto placement : {Placement::compact, Placement::spread})
            for (const std::uint32_t threads : {16U, 17U, 20U, 24U, 32U, 40U, 48U, 64U, 96U, 128U}) {
                INFO(machine_name << ", " << threads << " threads, placement " << static_cast<int>(placement));
                CHECK(barrier_ns(machine_name, "tollbar::barrier", threads, 0, placement) <=
                      1.3 * best_ranked_ns(machine_name, threads, 0, placement));
            }
}

TEST_CASE("without ranks is ahead of the best ranked plan where many threads come over 2 us") {
    for (const std::uint32_t threads : {64U, 128U})
        for (const char* machine_name : {"epyc", "mesh"}) {
            INFO(machine_name << ", " << threads << " threads");
            CHECK(barrier_ns(machine_name, "tollbar::barrier", threads, 2000) <
                  best_ranked_ns(machine_name, threads, 2000));
        }
}

TEST_CASE("at leaves no line is written by every thread in every episode") {
    for (const std::uint32_t threads : {32U, 64U, 128U})
        for (const char* machine_name : {"epyc", "mesh"}) {
            INFO(machine_name << ", " << threads << " threads");
            // A leaf's word is written by its eight threads, by its release, and now and then by a thread in vain.
            CHECK(hand_overs(machine_name, "tollbar::barrier", threads) <= 12);
            CHECK(hand_overs(machine_name, "one-word", threads) >= threads - 1);
        }
}

TEST_CASE("tollbar::barrier is ahead of a ticket tree at any size, however far apart the threads come") {
    for (const char* machine_name : {"epyc", "mesh"})
        for (const double spread_ns : {0.0, 2000.0, 10000.0})
            for (const std::uint32_t threads : {2U, 3U, 5U, 8U, 9U, 10U, 11U, 16U, 17U, 31U, 64U, 100U}) {
                INFO(machine_name << ", " << threads << " threads over " << spread_ns << " ns");
                CHECK(barrier_ns(machine_name, "tollbar::barrier", threads, spread_ns) <
                      1.1 * barrier_ns(machine_name, "std::barrier", threads, spread_ns));
            }
}
