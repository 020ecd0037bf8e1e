// SPDX-License-Identifier: Apache-2.0
// Groups of cores that meet at a leaf, and how many leaves there are, for masks of the test's making.
#include "waiting/topology.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

using namespace tollbar::detail;

namespace {

using Sizes = std::vector<std::uint32_t>;

/// Clusters of so many cores each, with so many threads a core.
Clusters clusters(const Sizes& cores, std::uint32_t threads = 1) {
    Clusters found{.all = {}, .caches = true};
    for (std::uint32_t number = 0; number < cores.size(); ++number)
        found.all.push_back({.number = number, .cores = cores[number], .cpus = cores[number] * threads});
    return found;
}

Sizes leaves(std::uint64_t expected, const Sizes& cores, std::uint32_t threads = 1) {
    return leaves_of(expected, groups_of(clusters(cores, threads))).sizes;
}

}  // namespace

TEST_CASE("a group is half of a cluster of more than five cores, and all of a smaller one") {
    CHECK(groups_of(clusters({8, 8})).cores == Sizes{4, 4, 4, 4});
    CHECK(groups_of(clusters({12, 12})).cores == Sizes{6, 6, 6, 6});
    CHECK(groups_of(clusters({7, 6})).cores == Sizes{4, 3, 3, 3});
    CHECK(groups_of(clusters({5, 5, 5})).cores == Sizes{5, 5, 5});
    CHECK(groups_of(clusters({3, 3, 3})).cores == Sizes{3, 3, 3});
    CHECK(groups_of(clusters({64})).cores == Sizes(16, 4));
}

TEST_CASE("clusters of which a mask has one core or two share a group") {
    CHECK(groups_of(clusters({2, 2, 2, 2})).cores == Sizes{4, 4});
    CHECK(groups_of(clusters(Sizes(9, 1))).cores == Sizes{4, 4, 1});
    CHECK(groups_of(clusters({2, 1, 1, 1, 1})).cores == Sizes{3, 2, 1});
}

TEST_CASE("every core and every CPU is in one group") {
    for (std::uint32_t cores = 1; cores <= 12; ++cores)
        for (std::uint32_t count = 1; count <= 9; ++count) {
            const CoreGroups groups = groups_of(clusters(Sizes(count, cores), 2));
            CHECK(std::accumulate(groups.cores.begin(), groups.cores.end(), 0U) == count * cores);
            CHECK(std::accumulate(groups.cpus.begin(), groups.cpus.end(), 0U) == 2 * count * cores);
        }
}

TEST_CASE("as many threads as cores, or as CPUs, have leaves of their own cores") {
    CHECK(leaves(13, {7, 6}) == Sizes{4, 3, 3, 3});
    CHECK(leaves(26, {7, 6}, 2) == Sizes{8, 6, 6, 6});
}

TEST_CASE("fewer threads than cores have leaves as large as the largest group") {
    CHECK(leaves(12, {7, 6}) == Sizes{4, 4, 4});
    CHECK(leaves(11, {8, 8}) == Sizes{4, 4, 3});
    CHECK(leaves(16, {8, 8}, 2) == Sizes{4, 4, 4, 4});
    CHECK(leaves(17, {8, 8}, 2) == Sizes{8, 8, 1});
}

TEST_CASE("no leaf is empty, whatever the clusters of a mask") {
    CHECK(leaves(9, {1, 8}) == Sizes{4, 4, 1});
    for (std::uint32_t first = 1; first <= 20; ++first)
        for (std::uint32_t second = 1; second <= 20; ++second)
            for (std::uint32_t expected = 1; expected <= 2 * (first + second); ++expected) {
                const Sizes found = leaves(expected, {first, second}, 2);
                REQUIRE(std::accumulate(found.begin(), found.end(), 0U) == expected);
                REQUIRE(std::find(found.begin(), found.end(), 0U) == found.end());
            }
}

TEST_CASE("more than sixteen leaves are as large as clusters, where these are not too large") {
    const Sizes of_eight(16, 8);
    CHECK(leaves(64, of_eight) == Sizes(16, 4));
    CHECK(leaves(72, of_eight) == Sizes(9, 8));
    CHECK(leaves(128, of_eight) == of_eight);
    CHECK(leaves_of(64, groups_of(clusters(of_eight))).groups == 1);
    CHECK(leaves_of(128, groups_of(clusters(of_eight))).groups == 2);
    CHECK(leaves(256, of_eight, 2) == Sizes(32, 8));
    CHECK(leaves(64, Sizes(64, 1)) == Sizes(16, 4));
}

TEST_CASE("a CPU's group is that of its core among those of the mask") {
    Topology topology;
    for (std::uint32_t cpu = 0; cpu < 32; ++cpu) {  // two clusters of eight cores, and the second threads of these
        topology.of_cpu.push_back(static_cast<std::uint16_t>(cpu % 16 / 8));
        topology.core_of.push_back(cpu % 16);
    }
    CpuSet mask;
    mask.bits[0] = 0xffff'ffff;
    for (std::uint32_t cpu = 0; cpu < 32; ++cpu) CHECK(groups_of_cpus(topology, mask)[cpu] == cpu % 16 / 4);
    mask.bits[0] = 0x3f'00ff;  // cores 0 to 7, six of them with both threads
    CHECK(groups_of_cpus(topology, mask)[3] == 0);
    CHECK(groups_of_cpus(topology, mask)[4] == 1);
    CHECK(groups_of_cpus(topology, mask)[19] == 0);
    mask.bits[0] = 0xc300;  // four cores of the second cluster
    for (const std::uint32_t cpu : {8U, 9U, 14U, 15U}) CHECK(groups_of_cpus(topology, mask)[cpu] == 0);
}
