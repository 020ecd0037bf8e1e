// SPDX-License-Identifier: Apache-2.0
// Which CPUs are neighbours, on machines of the test's making.
#include "waiting/topology.hpp"

#include "temporary.hpp"

#include <tollbar/detail/sync.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

/// Packages of caches of cores of `threads` CPUs, numbered as Linux does: the first threads of all cores come first.
struct Shape {
    std::uint32_t packages;
    std::uint32_t caches;  ///< of a package
    std::uint32_t cores;   ///< of a cache
    std::uint32_t threads = 1;
    std::string online = {};  ///< all, unless it says otherwise
};

Topology read(const Shape& shape) {
    const testing::TemporaryFolder root;
    const std::string folder = "/sys/devices/system/cpu";
    const std::uint32_t all_cores = shape.packages * shape.caches * shape.cores;
    const std::string all = "0-" + std::to_string(all_cores * shape.threads - 1);
    root.write(folder + "/online", shape.online.empty() ? all : shape.online);
    for (std::uint32_t core = 0; core < all_cores; ++core) {
        std::string siblings;
        std::string sharers;
        for (std::uint32_t thread = 0; thread < shape.threads; ++thread) {
            const std::uint32_t first = core / shape.cores * shape.cores + thread * all_cores;
            siblings.append(thread == 0 ? "" : ",").append(std::to_string(core + thread * all_cores));
            sharers.append(thread == 0 ? "" : ",").append(std::to_string(first) + '-');
            sharers.append(std::to_string(first + shape.cores - 1));
        }
        for (std::uint32_t thread = 0; thread < shape.threads; ++thread) {
            const std::string cpu = folder + "/cpu" + std::to_string(core + thread * all_cores);
            root.write(cpu + "/topology/physical_package_id", std::to_string(core / (shape.caches * shape.cores)));
            root.write(cpu + "/topology/thread_siblings_list", siblings);
            root.write(cpu + "/cache/index0/level", "1");
            root.write(cpu + "/cache/index0/shared_cpu_list", siblings);
            root.write(cpu + "/cache/index1/level", "3");
            root.write(cpu + "/cache/index1/shared_cpu_list", sharers);
        }
    }
    return read_topology(root.path());
}

}  // namespace

TEST_CASE("cores that share a cache are neighbours") {
    const Topology found = read({.packages = 2, .caches = 8, .cores = 8});
    CHECK(found.count == 16);
    CHECK(found.cores == 8);
    for (std::uint32_t cpu = 0; cpu < 128; ++cpu) CHECK(found.of_cpu[cpu] == cpu / 8);
}

TEST_CASE("threads of a core count once, wherever they are numbered") {
    const Topology found = read({.packages = 1, .caches = 2, .cores = 6, .threads = 2});
    CHECK(found.count == 2);
    CHECK(found.cores == 6);
    CHECK(found.one_word == 6);
    CHECK(found.of_cpu[0] == 0);
    CHECK(found.of_cpu[6] == 1);
    CHECK(found.of_cpu[12] == 0);
    CHECK(found.of_cpu[23] == 1);
}

TEST_CASE("a cache of many cores has several clusters of eight, caches of few share one") {
    const Topology big = read({.packages = 2, .caches = 1, .cores = 32, .threads = 2});
    CHECK(big.cores == 8);
    CHECK(big.one_word == 10);
    CHECK(big.count == 8);
    CHECK(big.of_cpu[7] == 0);
    CHECK(big.of_cpu[8] == 1);
    CHECK(big.of_cpu[64] == 0);  // the second thread of core 0
    const Topology small = read({.packages = 1, .caches = 8, .cores = 2});
    CHECK(small.cores == 8);
    CHECK(small.count == 2);
}

TEST_CASE("CPUs that are not online are nobody's neighbours, and make no cluster") {
    const Topology found = read({.packages = 1, .caches = 4, .cores = 4, .online = "4-7,12-15"});
    CHECK(found.count == 2);
    CHECK(found.of_cpu[4] == 0);
    CHECK(found.of_cpu[15] == 1);
    CHECK(found.of_cpu[0] == 0);
}

TEST_CASE("where the kernel says nothing all are neighbours") {
    const testing::TemporaryFolder nothing;
    CHECK(read_topology(nothing.path()).count == 1);
    const testing::TemporaryFolder only_numbers;
    only_numbers.write("/sys/devices/system/cpu/online", "0-15");
    CHECK(read_topology(only_numbers.path()).count == 2);
    const testing::TemporaryFolder nonsense;
    nonsense.write("/sys/devices/system/cpu/online", "many");
    CHECK(read_topology(nonsense.path()).count == 1);
}

namespace {

CpuSet mask_of(std::uint32_t first, std::uint32_t last) {
    CpuSet mask;
    for (std::uint32_t cpu = first; cpu <= last; ++cpu) mask.bits[cpu / 64] |= std::uint64_t{1} << cpu % 64;
    return mask;
}

std::vector<Cluster> clusters(const Shape& shape, const CpuSet& mask) { return clusters_of(read(shape), mask).all; }

}  // namespace

TEST_CASE("a mask has the clusters of its CPUs, on one or two packages") {
    for (const std::uint32_t packages : {1U, 2U})
        for (const std::uint32_t caches : {1U, 2U, 4U, 8U}) {
            const Shape shape{.packages = packages, .caches = caches, .cores = 6};
            const Clusters found = clusters_of(read(shape), mask_of(0, 6 * caches * packages - 1));
            CHECK(found.caches);
            REQUIRE(found.all.size() == packages * caches);
            for (std::uint32_t i = 0; i < found.all.size(); ++i)
                CHECK(found.all[i] == Cluster{.number = i, .cores = 6, .cpus = 6});
        }
    CHECK_FALSE(clusters_of(read({.packages = 2, .caches = 1, .cores = 64}), mask_of(0, 127)).caches);
}

TEST_CASE("who sees half of a cluster has half of its cores, whatever their number") {
    const Shape shape{.packages = 2, .caches = 2, .cores = 8};
    CHECK(clusters(shape, mask_of(4, 7)) == std::vector<Cluster>{{0, 4, 4}});
    CHECK(clusters(shape, mask_of(4, 17)) == std::vector<Cluster>{{0, 4, 4}, {1, 8, 8}, {2, 2, 2}});
}

TEST_CASE("both threads of a core are CPUs of one core, wherever they are numbered") {
    const Shape shape{.packages = 1, .caches = 2, .cores = 4, .threads = 2};
    CHECK(clusters(shape, mask_of(0, 15)) == std::vector<Cluster>{{0, 4, 8}, {1, 4, 8}});
    CHECK(clusters(shape, mask_of(0, 9)) == std::vector<Cluster>{{0, 4, 6}, {1, 4, 4}});
}

TEST_CASE("CPUs of which nothing is known are one cluster") {
    const testing::TemporaryFolder nothing;
    CHECK(clusters_of(read_topology(nothing.path()), mask_of(0, 9)).all == std::vector<Cluster>{{0, 10, 10}});
}

TEST_CASE("this machine's CPUs have clusters, and the caller is in one of them") {
    CHECK(topology().count >= 1);
    CHECK(NativeSync::cluster() < topology().count);
}

TEST_CASE("the clusters of this process have the CPUs of its mask") {
    std::uint32_t cpus = 0;
    for (const Cluster& cluster : usable_clusters().all) {
        CHECK(cluster.cores >= 1);
        CHECK(cluster.cores <= cluster.cpus);
        cpus += cluster.cpus;
    }
    CHECK(cpus == masked_cpus());
}
