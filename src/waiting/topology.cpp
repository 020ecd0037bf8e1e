// SPDX-License-Identifier: Apache-2.0
// Reads from the kernel which cores share which cache, and asks on which CPU the caller runs.
#include "topology.hpp"

#include "base/files.hpp"
#include "base/once.hpp"

#include <tollbar/detail/sync.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <sched.h>
#include <set>
#include <tuple>

namespace tollbar::detail {

namespace {

constexpr std::uint32_t most_cpus = 65536;

/// A cache of fewer cores is too small for a cluster of its own, and one of more is too big: one word serves about
/// eight threads (docs/design/cores.md).
constexpr std::uint32_t fewest_cores = 4;
constexpr std::uint32_t most_cores_of_one = 12;
constexpr std::uint32_t cores_else = 8;

/// The numbers of a list of the kernel's, such as 0-3,8-11; what is no list ends it.
std::vector<std::uint32_t> numbers(const std::string& file) {
    std::vector<std::uint32_t> found;
    const std::string text = contents_of(file);
    const char *at = text.data(), *const end = at + text.size();
    for (std::uint32_t first = 0;; ++at) {
        auto read = std::from_chars(at, end, first);
        std::uint32_t last = first;
        if (read.ec == std::errc{} && read.ptr != end && *read.ptr == '-')
            read = std::from_chars(read.ptr + 1, end, last);
        if (read.ec != std::errc{}) return found;
        for (std::uint32_t number = first; number <= last && number < most_cpus; ++number) found.push_back(number);
        at = read.ptr;
        if (at == end || *at != ',') return found;
    }
}

/// The first of the CPUs that share something with this one, which names them all.
std::uint32_t first_of(const std::string& file, std::uint32_t cpu) {
    const std::vector<std::uint32_t> all = numbers(file);
    return all.empty() ? cpu : all.front();
}

/// The first of those that share its last-level cache.
std::uint32_t first_of_cache(const std::string& folder, std::uint32_t cpu) {
    int highest = 0;
    std::uint32_t first = cpu;
    for (int index = 0; index < 10; ++index) {
        const std::string cache = folder + "/cache/index" + std::to_string(index);
        const std::string text = contents_of(cache + "/level");
        if (text.empty()) break;
        const int level = std::atoi(text.c_str());
        if (level <= highest) continue;
        highest = level;
        first = first_of(cache + "/shared_cpu_list", cpu);
    }
    return first;
}

}  // namespace

Topology read_topology(const std::string& root) {
    const std::string folder = root + "/sys/devices/system/cpu";
    Topology found;
    // Package, cache, core, CPU: in this order neighbours stand side by side.
    std::set<std::tuple<int, std::uint32_t, std::uint32_t, std::uint32_t>> order;
    for (const std::uint32_t cpu : numbers(folder + "/online")) {
        const std::string own = folder + "/cpu" + std::to_string(cpu);
        const int package = std::atoi(contents_of(own + "/topology/physical_package_id").c_str());
        order.emplace(package, first_of_cache(own, cpu), first_of(own + "/topology/thread_siblings_list", cpu), cpu);
    }
    if (order.empty()) return found;

    std::map<std::uint32_t, std::set<std::uint32_t>> cores_of_cache;
    std::uint32_t last_cpu = 0;
    for (const auto& [package, cache, core, cpu] : order) {
        cores_of_cache[cache].insert(core);
        last_cpu = std::max(last_cpu, cpu);
    }
    std::size_t largest = 0;
    for (const auto& [cache, cores] : cores_of_cache) largest = std::max(largest, cores.size());
    const bool by_cache = largest >= fewest_cores && largest <= most_cores_of_one;
    if (by_cache) found.cores = found.one_word = static_cast<std::uint32_t>(largest);
    found.caches = by_cache;

    found.of_cpu.resize(last_cpu + 1);
    found.core_of.resize(last_cpu + 1);
    std::map<std::uint32_t, std::uint32_t> number;  // of each cache, or of each core
    for (const auto& [package, cache, core, cpu] : order) {
        const auto next = static_cast<std::uint32_t>(number.size());
        const std::uint32_t own = number.try_emplace(by_cache ? cache : core, next).first->second;
        found.of_cpu[cpu] = static_cast<std::uint16_t>(by_cache ? own : own / cores_else);
        found.core_of[cpu] = core;
        found.count = found.of_cpu[cpu] + 1U;
    }
    return found;
}

const Topology& topology() {
    static constinit Once<Topology> here;
    return here.get([] { return read_topology(""); });
}

Clusters clusters_of(const Topology& topology, const CpuSet& mask) {
    std::map<std::uint32_t, Cluster> found;
    std::set<std::uint32_t> cores;
    for (std::uint32_t cpu = 0; cpu < 64 * mask.bits.size(); ++cpu) {
        if ((mask.bits[cpu / 64] >> cpu % 64 & 1) == 0) continue;
        const bool known = cpu < topology.of_cpu.size();
        const std::uint32_t number = known ? topology.of_cpu[cpu] : 0;
        Cluster& cluster = found.try_emplace(number, Cluster{.number = number, .cores = 0, .cpus = 0}).first->second;
        ++cluster.cpus;
        if (cores.insert(known ? topology.core_of[cpu] : cpu).second) ++cluster.cores;
    }
    Clusters clusters{.all = {}, .caches = topology.caches};
    for (const auto& [number, cluster] : found) clusters.all.push_back(cluster);
    return clusters;
}

std::vector<std::uint16_t> groups_of_cpus(const Topology& topology, const CpuSet& mask) {
    const CoreGroups groups = groups_of(clusters_of(topology, mask));
    std::map<std::uint32_t, std::map<std::uint32_t, std::vector<std::uint32_t>>> clusters;  // of cores, of CPUs
    for (std::uint32_t cpu = 0; cpu < 64 * mask.bits.size(); ++cpu) {
        if ((mask.bits[cpu / 64] >> cpu % 64 & 1) == 0) continue;
        const bool known = cpu < topology.of_cpu.size();
        clusters[known ? topology.of_cpu[cpu] : 0][known ? topology.core_of[cpu] : cpu].push_back(cpu);
    }
    std::vector<std::uint16_t> found;
    std::uint32_t cluster = 0;
    for (const auto& [number, cores] : clusters) {
        std::uint32_t core = 0;
        for (const auto& [first, cpus] : cores) {
            for (const std::uint32_t cpu : cpus) {
                if (cpu >= found.size()) found.resize(cpu + 1);
                found[cpu] = static_cast<std::uint16_t>(
                    groups.of(cluster, core, static_cast<std::uint32_t>(cores.size())));
            }
            ++core;
        }
        ++cluster;
    }
    return found;
}

const Clusters& usable_clusters() {
    static constinit Once<Clusters> here;
    return here.get([] { return clusters_of(topology(), masked()); });
}

std::uint32_t NativeSync::cpu() noexcept {
    const int cpu = sched_getcpu();
    return cpu < 0 ? 0 : masked().below(static_cast<std::uint32_t>(cpu));
}

std::uint32_t NativeSync::group() noexcept {
    static constinit Once<std::vector<std::uint16_t>> of_cpu;
    const std::vector<std::uint16_t>& here = of_cpu.get([] { return groups_of_cpus(topology(), masked()); });
    const int cpu = sched_getcpu();
    return cpu >= 0 && static_cast<std::size_t>(cpu) < here.size() ? here[static_cast<std::size_t>(cpu)] : 0;
}

std::uint32_t NativeSync::cluster() noexcept {
    const std::vector<std::uint16_t>& of_cpu = topology().of_cpu;
    const int cpu = sched_getcpu();
    return cpu >= 0 && static_cast<std::size_t>(cpu) < of_cpu.size() ? of_cpu[static_cast<std::size_t>(cpu)] : 0;
}

}  // namespace tollbar::detail
