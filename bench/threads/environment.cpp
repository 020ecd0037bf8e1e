// SPDX-License-Identifier: Apache-2.0
// The first record of every launch: the machine, the versions, and how things were measured.
#include "environment.hpp"

#include "cpus.hpp"
#include "json.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace tollbar::bench {

namespace {

/// The first line of a file; empty when there is none.
std::string line_of(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "unknown";
}

std::string kernel() {
    utsname name{};
    uname(&name);
    return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

/// Variables that change how somebody here waits.
constexpr const char* variables[] = {"TOLLBAR_PLAN",  "TOLLBAR_WAIT",   "TOLLBAR_TUNING",    "OMP_WAIT_POLICY",
                                     "OMP_PROC_BIND", "GOMP_SPINCOUNT", "GOMP_CPU_AFFINITY", "KMP_BLOCKTIME",
                                     "KMP_USE_YIELD", "KMP_AFFINITY",   "KMP_LIBRARY",       "LD_PRELOAD"};

}  // namespace

void print_environment(std::string_view program, const Options& options, const std::vector<int>& cpus, const Pace& pace,
                       const Versions& versions) {
    const std::string first_cpu = "/sys/devices/system/cpu/cpu" + std::to_string(cpus.front());
    Record record("environment");
    record.field("program", program)
        .field("cpus", sysconf(_SC_NPROCESSORS_ONLN))
        .field("usable", cpus.size())
        .field("quota", cpu_quota())
        .field("model", cpu_model())
        .field("kernel", kernel())
        .field("compiler", __VERSION__)
        .field("ranks", options.ranks)
        .field("placement", spelled(options.placement))
        .field("computing", spelled(options.computing))
        .field("rounds", options.rounds)
        .field("seed", options.seed)
        .field("crowded", options.ranks * options.threads > cpus.size())
        .field("batch_ns", pace.batch_ns)
        .field("cut_ns", pace.cut_ns)
        .field("most_episodes", pace.most)
        .field("warm_up", pace.warm_up)
        .field("clock", clock_name())
        .field("governor", line_of(first_cpu + "/cpufreq/scaling_governor"))
        .field("smt", line_of("/sys/devices/system/cpu/smt/control"))
        .field("load", line_of("/proc/loadavg"))
        .field("autogroup", line_of("/proc/self/autogroup"))
        .field("pid", getpid());
    for (const auto& [name, version] : versions) record.field(name, version);
    for (const char* variable : variables)
        if (const char* value = std::getenv(variable)) record.field(variable, value);
    record.print();
}

}  // namespace tollbar::bench
