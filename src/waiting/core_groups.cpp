// SPDX-License-Identifier: Apache-2.0
// Groups of neighbouring cores, whose threads meet at a leaf, and how many leaves a barrier has.
#include "clusters.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace tollbar::detail {

namespace {

/// So many adds to one line take as long as a level more (docs/design/leaves.md).
constexpr std::uint32_t cores_of_group = 4;

/// Two levels of nodes with four children each: more leaves have a farther way.
constexpr std::size_t most_leaves = 16;
constexpr std::uint32_t most_of_leaf = 12;

/// How many groups a cluster of so many cores has. A cluster of which the kernel says nothing has all cores.
std::uint32_t groups_of_cluster(std::uint32_t cores) {
    if (cores <= cores_of_group + 1) return 1;
    return cores <= most_of_leaf ? 2 : (cores + cores_of_group - 1) / cores_of_group;
}

/// Neighbouring groups, two and two.
std::vector<std::uint32_t> in_pairs(const std::vector<std::uint32_t>& groups) {
    std::vector<std::uint32_t> pairs((groups.size() + 1) / 2);
    for (std::size_t group = 0; group < groups.size(); ++group) pairs[group / 2] += groups[group];
    return pairs;
}

}  // namespace

std::uint32_t CoreGroups::of(std::uint32_t cluster, std::uint32_t core, std::uint32_t cores_there) const noexcept {
    return cluster / clusters * of_a_cluster + core * of_a_cluster / cores_there;
}

CoreGroups groups_of(const Clusters& clusters) {
    std::uint32_t most = 1;
    for (const Cluster& cluster : clusters.all) most = std::max(most, cluster.cores);
    CoreGroups groups{.of_a_cluster = groups_of_cluster(most),
                      .clusters = std::max(1U, cores_of_group / most),
                      .cores = {},
                      .cpus = {}};
    for (std::uint32_t number = 0; number < clusters.all.size(); ++number) {
        const Cluster& cluster = clusters.all[number];
        std::uint32_t cpus = 0;
        for (std::uint32_t core = 0; core < cluster.cores; ++core) {
            const std::uint32_t group = groups.of(number, core, cluster.cores);
            groups.cores.resize(std::max<std::size_t>(groups.cores.size(), group + 1));
            groups.cpus.resize(groups.cores.size());
            const std::uint32_t cpus_so_far = (core + 1) * cluster.cpus / cluster.cores;
            ++groups.cores[group];
            groups.cpus[group] += cpus_so_far - cpus;
            cpus = cpus_so_far;
        }
    }
    return groups;
}

LeafShape leaves_of(std::uint64_t expected, const CoreGroups& groups) {
    const auto total = [](const std::vector<std::uint32_t>& sizes) {
        return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    };
    LeafShape shape{.sizes = expected > total(groups.cores) ? groups.cpus : groups.cores, .groups = 1};
    const auto most = [&] { return *std::max_element(shape.sizes.begin(), shape.sizes.end()); };
    const bool many = expected > most_leaves * most();
    if (many && groups.of_a_cluster % 2 == 0 && 2 * most() <= most_of_leaf)
        shape = {.sizes = in_pairs(shape.sizes), .groups = 2};
    const bool empty = std::find(shape.sizes.begin(), shape.sizes.end(), 0U) != shape.sizes.end();
    if (expected == total(shape.sizes) && !empty) return shape;
    const std::uint32_t size = most();
    const auto whole = static_cast<std::size_t>(expected / size);
    shape.sizes.assign(whole, size);
    if (expected % size != 0) shape.sizes.push_back(static_cast<std::uint32_t>(expected % size));
    return shape;
}

}  // namespace tollbar::detail
