// SPDX-License-Identifier: Apache-2.0
// The library's reader of the environment, so that the command reads variables as the library does, and the seal of
// what the ranks of a run tell it.
#include "parts.hpp"

#include "base/environment.hpp"
#include "base/launchers.hpp"
#include "wire/siphash.h"

#include <tollbar/algorithms.hpp>
#include <tollbar/detail/cpus.hpp>

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using namespace tollbar;
using namespace tollbar::detail;

namespace {

/// Why nobody can run it; "" when somebody can. On nodes and ranks so many that all parameters fit.
std::string fault_of_plan(const std::string& spelling) {
    constexpr Rank nodes = 16, per_node = 16;
    Groups groups(nodes);
    for (Rank rank = 0; rank < nodes * per_node; ++rank) groups[rank / per_node].push_back(rank);
    try {
        make_plan(spelling, groups);
        return "";
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

using Row = std::tuple<std::string, std::string, std::string>;

std::vector<Row> settings() {
    std::vector<Row> rows;
    for (auto& [name, value, complaint] : environment::settings()) {
        const std::string fault = name == "TOLLBAR_PLAN" ? fault_of_plan(value) : "";
        if (!fault.empty()) complaint = environment::refusal_of_plan(name.c_str(), value, fault);
        rows.emplace_back(name, value, complaint);
    }
    return rows;
}

using Halves = std::pair<std::uint64_t, std::uint64_t>;

std::uint64_t siphash(const Halves& key, const nb::bytes& message) {
    return toll_siphash({.low = key.second, .high = key.first}, message.c_str(), message.size());
}

using Variable = std::tuple<const char*, const char*, const char*, const char*, const char*>;

std::vector<Variable> variables() {
    std::vector<Variable> rows;
    for (const auto& one : environment::variables())
        rows.emplace_back(one.name, one.accepted, one.fallback, one.meaning, one.readers);
    return rows;
}

using LauncherRow = std::tuple<const char*, const char*, const char*, std::vector<const char*>, bool>;

std::vector<LauncherRow> table_of_launchers() {
    std::vector<LauncherRow> rows;
    for (const Launcher& one : launchers) {
        std::vector<const char*> job(one.job.begin(), one.job.end());
        std::erase_if(job, [](const char* name) { return *name == '\0'; });
        rows.emplace_back(one.rank, one.size, one.size_here, std::move(job), one.of_mpi);
    }
    return rows;
}

/// Why the kernel, or a sandbox, refuses what a waiting thread needs; "" where it does not.
std::string futex_problem() {
    std::uint32_t word = 0;
    return syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0) < 0 ? std::strerror(errno) : "";
}

std::string membarrier_problem() {
    const long offered = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    if (offered < 0) return std::strerror(errno);
    constexpr long wanted = MEMBARRIER_CMD_PRIVATE_EXPEDITED | MEMBARRIER_CMD_GLOBAL_EXPEDITED;
    return (offered & wanted) == wanted ? "" : "no expedited barrier";
}

std::optional<double> finite_quota(const std::string& root) {
    const double cpus = cpu_quota(root);
    return std::isfinite(cpus) ? std::optional(cpus) : std::nullopt;
}

}  // namespace

void bind_environment(nb::module_& m) {
    m.def(
        "variables", &variables,
        "(name, accepted, default, meaning, readers) of each variable that users set, for all doors and the command.");
    m.def("settings", &settings,
          "(name, value, complaint) of this process's variables whose names begin with TOLLBAR_, by name; the "
          "complaint\nis the line that refuses the value, empty when it is accepted.");
    m.def(
        "launchers", &table_of_launchers,
        "(rank, size, size here, job, is of an MPI) of each launcher: the variables by which it tells them; the first\n"
        "row whose rank is a number counts.");
    m.def("launcher_of", &environment::launcher_of, "rank"_a,
          "The process of this host that started the ranks of an MPI job: the first ancestor that is none of them.");
    m.def("cache_folder", &environment::cache_folder, "tollbar's folder in the user's cache; '' without a home.");
    m.def("tuning_file", &environment::tuning_file, "The tuning file; '' without a home.");
    m.def("cpu_quota", &finite_quota, "root"_a = "",
          "CPUs' worth of time that the cgroup grants; None without a quota.");
    m.def("futex_problem", &futex_problem, "Why no thread could sleep on a word; '' where it could.");
    m.def("membarrier_problem", &membarrier_problem, "Why membarrier cannot spare a waker its fence; '' where it can.");
    m.def("siphash", &siphash, "key"_a, "message"_a,
          "SipHash-2-4 of the message; the key in halves, the higher one first.");
    m.def("nicd_socket", &environment::nicd_socket, "Where the daemon of the network card listens.");
}
