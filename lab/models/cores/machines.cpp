// SPDX-License-Identifier: Apache-2.0
// The machines that are built in, where their numbers are from, and what no machine can have.
#include <tollbar/models/cores.hpp>

#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace tollbar::cores {

namespace {

/// 128 cores, clusters of 8 behind an L3 cache each, sockets of 64. AMD Milan: core-to-core-latency measured 23, 107
/// and 197 ns on a 7R13, and that the second socket costs twice as much inside as the first; an EPYC 74F3 has 20 and
/// 108 to 125 (wtarreau/atomic-tests).
Machine epyc() {
    return {.name = "epyc",
            .cores = in_order(128, 8, 64),
            .cluster_ns = 23,
            .socket_ns = 110,
            .second_socket_ns = 200,
            .far_ns = 200,
            .busy = 1,
            .read_ns = 10,
            .cluster_read_ns = 4,
            .invalidate_ns = 2,
            .pause_ns = 18,
            .clusters_cache = true};
}

/// 128 cores around one cache a socket. Intel Ice Lake 8375C 51 and 108 ns, Cascade Lake 47 and 134
/// (core-to-core-latency); how long a line is busy as for "icelake".
Machine mesh() {
    return {.name = "mesh",
            .cores = in_order(128, 8, 64),
            .cluster_ns = 50,
            .socket_ns = 50,
            .second_socket_ns = 50,
            .far_ns = 125,
            .busy = 0.65,
            .read_ns = 8,
            .invalidate_ns = 2,
            .pause_ns = 45};
}

/// One cache for all, fitted to the contended additions of concurrency-hierarchy-bench (Downs 2020).
Machine one_cache(const char* name, double line_ns, double busy, double read_ns, double invalidate_ns = 2) {
    return {.name = name,
            .cores = in_order(16, 16, 16),
            .cluster_ns = line_ns,
            .socket_ns = line_ns,
            .second_socket_ns = line_ns,
            .far_ns = line_ns,
            .busy = busy,
            .read_ns = read_ns,
            .invalidate_ns = invalidate_ns,
            .pause_ns = 1};
}

const std::array<Machine, 5>& built_in() {
    static const std::array<Machine, 5> machines{epyc(), mesh(), one_cache("graviton2", 47, 0.2, 10),
                                                 one_cache("icelake", 27, 0.62, 7), one_cache("skylake", 21, 1, 4)};
    return machines;
}

std::string number(double value) {
    std::string text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

}  // namespace

std::vector<std::string> machine_names() {
    std::vector<std::string> names;
    for (const Machine& machine : built_in()) names.push_back(machine.name);
    return names;
}

Machine machine(std::string_view name) {
    std::string known;
    for (const Machine& machine : built_in()) {
        if (machine.name == name) return machine;
        known += (known.empty() ? "" : ", ") + machine.name;
    }
    throw std::invalid_argument("there is no machine '" + std::string(name) + "'; there are " + known);
}

std::vector<Core> in_order(std::uint32_t cores, std::uint32_t cluster, std::uint32_t socket) {
    if (cluster == 0 || socket == 0 || socket % cluster != 0)
        throw std::invalid_argument("a socket is one or more whole clusters, not " + std::to_string(socket) +
                                    " cores in clusters of " + std::to_string(cluster));
    std::vector<Core> all;
    for (std::uint32_t core = 0; core < cores; ++core) all.push_back({core / cluster, core / socket});
    return all;
}

void check(const Machine& machine) {
    const auto refuse = [&](const std::string& why) {
        throw std::invalid_argument("machine '" + machine.name + "': " + why);
    };
    if (machine.cores.size() < 2 || machine.cores.size() > most_cores)
        refuse("it has 2 to " + std::to_string(most_cores) + " cores, not " + std::to_string(machine.cores.size()));
    for (const Core& core : machine.cores)
        if (core.cluster >= most_cores || core.socket >= most_cores)
            refuse("clusters and sockets are numbered from 0 to " + std::to_string(most_cores - 1));
    const std::array<std::pair<double, const char*>, 10> times{{{machine.cluster_ns, "cluster_ns"},
                                                                {machine.socket_ns, "socket_ns"},
                                                                {machine.second_socket_ns, "second_socket_ns"},
                                                                {machine.far_ns, "far_ns"},
                                                                {machine.read_ns, "read_ns"},
                                                                {machine.cluster_read_ns, "cluster_read_ns"},
                                                                {machine.invalidate_ns, "invalidate_ns"},
                                                                {machine.pause_ns, "pause_ns"},
                                                                {machine.hit_ns, "hit_ns"},
                                                                {machine.add_ns, "add_ns"}}};
    for (const auto& [ns, name] : times)
        if (!std::isfinite(ns) || ns < 0 || ns > 1e6)
            refuse(std::string(name) + " is from 0 to 1e6 ns, not " + number(ns));
    if (machine.cluster_ns == 0 || machine.socket_ns == 0 || machine.second_socket_ns == 0 || machine.far_ns == 0)
        refuse("a line takes time from core to core, so none of cluster_ns, socket_ns, second_socket_ns, far_ns is 0");
    if (machine.pause_ns + machine.hit_ns == 0) refuse("a poll takes time, so pause_ns and hit_ns are not both 0");
    if (!(machine.busy >= 0 && machine.busy <= 1)) refuse("busy is from 0 to 1, not " + number(machine.busy));
    if (!(machine.held >= 0 && machine.held <= 100)) refuse("held is from 0 to 100, not " + number(machine.held));
}

}  // namespace tollbar::cores
