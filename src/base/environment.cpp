// SPDX-License-Identifier: Apache-2.0
// The table, and how each kind of value is read.
#include "environment.hpp"

#include "files.hpp"
#include "launchers.hpp"
#include "once.hpp"
#include "process.hpp"
#include "say.h"
#include "plan/wording.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace tollbar::detail {

namespace {

constexpr std::array<std::string_view, 4> policies{"auto", "spin", "yield", "park"};  // in the order of wait_policy
constexpr std::array<std::string_view, 4> networks{"", "auto", "p2p", "nic"};         // of tollbar_network

}  // namespace

std::optional<wait_policy> wait_policy_named(std::string_view name) noexcept {
    const auto* const found = std::ranges::find(policies, name);
    if (found == policies.end()) return std::nullopt;
    return static_cast<wait_policy>(found - policies.begin());
}

std::string_view name_of(wait_policy policy) noexcept { return policies[static_cast<std::size_t>(policy)]; }

std::optional<tollbar_network> network_named(std::string_view name) noexcept {
    const auto* const found = std::find(networks.begin() + 1, networks.end(), name);
    if (found == networks.end()) return std::nullopt;
    return static_cast<tollbar_network>(found - networks.begin());
}

std::string_view name_of(tollbar_network network) noexcept { return networks[network]; }

namespace environment {

namespace {

/// In the order of the table.
enum Which : std::uint8_t {
    which_plan,
    which_wait,
    which_timeout,
    which_report,
    which_verbose,
    which_network,
    which_nicd,
    which_tuning,
    which_results,
    which_build
};

constexpr std::array table{
    Variable{"TOLLBAR_PLAN", "a plan such as mcs:4,2 (`tollbar plans` lists them)", "tollbar's own choice",
             "The plan of barriers for which the program names none.", "C++, C, MPI, threads inside ranks, OpenSHMEM"},
    Variable{"TOLLBAR_WAIT", "auto, spin, yield, park", "auto",
             "How participants wait: `spin` never yields its processor, `yield` yields but never sleeps, `park` sleeps "
             "at once, `auto` learns which of the three pays (see [How to wait](../design/waiting.md)).",
             "all"},
    Variable{"TOLLBAR_TIMEOUT", "seconds, 0 or more (0: never)", "0",
             "How long a wait lasts before it names the missing ranks; it repeats that at the same interval and goes "
             "on waiting. `tollbar check` gives up on a barrier then (after 10 seconds, unless it is set).",
             "C++, C, Python, pthread, OpenMP, MPI, threads inside ranks, OpenSHMEM, UDP, network card, the command"},
    Variable{
        "TOLLBAR_REPORT", "a file, or - for stderr", "-",
        "Where missing ranks are reported: one line each, appended to the file. `tollbar run` also writes there, at "
        "the end of an MPI job, who waited how long for whom. "
        "A file that the program has put in place of its stderr gets no line, unless it is a terminal or opened to be "
        "appended to.",
        "C++, C, Python, pthread, OpenMP, MPI, threads inside ranks, OpenSHMEM, UDP, network card"},
    Variable{"TOLLBAR_VERBOSE", "0, 1, 2", "0",
             "What is printed on stderr: with `0` only errors; with `1` also the choices made and, once each, the "
             "fallbacks; with `2` also how often each barrier was used.",
             "C++, C, pthread, OpenMP, MPI, threads inside ranks, OpenSHMEM, network card"},
    Variable{"TOLLBAR_NETWORK", "auto, p2p, nic", "auto",
             "What carries signals between nodes: `p2p` the MPI's messages, `nic` the network cards, `auto` the faster "
             "of both.",
             "MPI, threads inside ranks"},
    Variable{
        "TOLLBAR_NICD", "a socket", default_nicd_socket,
        "Where the NIC daemon of the host listens. If it is not set: /run/tollbar/NAME/nicd.sock of the interface NAME "
        "that has the member's address, if that is there.",
        "MPI, threads inside ranks, network card, the command"},
    Variable{"TOLLBAR_TUNING", "a file", "tollbar/tuning in the cache folder",
             "The file of stored choices, which `tollbar tune` and the barriers of MPI programs write.",
             "C++, C, MPI, threads inside ranks, the command"},
    Variable{"TOLLBAR_RESULTS", "a folder", "build/results of the checkout, else tollbar/results in the cache folder",
             "Where measurements are stored.", "the command"},
    Variable{"TOLLBAR_BUILD", "a folder", "the installed programs, else build/release of the checkout",
             "The build whose programs and libraries the command uses.", "the command"},
};

/// The value that the user has set; null when unset or empty.
const char* value_of(const char* name) noexcept {
    const char* value = std::getenv(name);
    return value == nullptr || *value == '\0' ? nullptr : value;
}

const char* value_of(Which which) noexcept { return value_of(table[which].name); }

std::string text_of(const char* name) {
    const char* value = value_of(name);
    return value == nullptr ? "" : value;
}

std::optional<double> seconds_named(std::string_view text) noexcept {
    double seconds = 0;  // not by strtod(3), which wants a comma in some countries
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole && std::isfinite(seconds) && seconds >= 0 ? std::optional(seconds) : std::nullopt;
}

std::optional<int> level_named(std::string_view text) noexcept {
    if (text.size() != 1 || text[0] < '0' || text[0] > '2') return std::nullopt;
    return text[0] - '0';
}

template <class Parse>
auto parsed(Which which, Parse parse) noexcept -> decltype(parse("")) {
    const char* value = value_of(which);
    if (value == nullptr) return std::nullopt;
    const auto read = parse(value);
    if (!read) tollbar_refuse(table[which].name, value, table[which].accepted, table[which].fallback);
    return read;
}

bool accepts(Which which, std::string_view value) noexcept {
    switch (which) {
        case which_wait: return wait_policy_named(value).has_value();
        case which_timeout: return seconds_named(value).has_value();
        case which_verbose: return level_named(value).has_value();
        case which_network: return network_named(value).has_value();
        default: return true;
    }
}

std::string complaint_of(std::string_view name, const std::string& value) {
    const auto* const known = std::ranges::find(table, name,
                                                [](const Variable& one) { return std::string_view(one.name); });
    if (known == table.end()) {
        std::string all;
        for (const Variable& one : table) all.append(all.empty() ? "" : ", ").append(one.name);
        return worded({name, " is not a variable of tollbar; there are ", all});
    }
    if (accepts(static_cast<Which>(known - table.begin()), value)) return "";
    return worded({name, " is '", value, "'; accepted: ", known->accepted, "; using the default, ", known->fallback});
}

/// Whether a process was started as a rank of an MPI, or by one.
bool is_of_a_rank(pid_t process) {
    const std::string all = '\0' + contents_of(worded({"/proc/", std::to_string(process), "/environ"}));
    return std::ranges::any_of(launchers, [&](const Launcher& one) {
        return one.of_mpi && all.find(std::string(1, '\0').append(one.rank) + '=') != std::string::npos;
    });
}

/// -1: TOLLBAR_VERBOSE counts.
std::atomic<int> told_verbosity{-1};

}  // namespace

std::span<const Variable> variables() noexcept { return table; }

std::string plan() { return text_of(table[which_plan].name); }

std::string refusal_of_plan(const char* setting, std::string_view plan, std::string_view why) {
    return worded({setting == nullptr ? "the plan" : setting, " is '", plan, "': ", why, "; using the default, ",
                   table[which_plan].fallback});
}

void refuse_plan(std::string_view why) {
    const char* const name = table[which_plan].name;
    tollbar_say_once(name, "%s", refusal_of_plan(name, plan(), why).c_str());
}

wait_policy wait() noexcept {
    static constinit Once<wait_policy> policy;
    return policy.get([] { return parsed(which_wait, wait_policy_named).value_or(wait_policy::automatic); });
}

std::optional<std::chrono::duration<double>> timeout() noexcept {
    const double seconds = parsed(which_timeout, seconds_named).value_or(0);
    return seconds > 0 ? std::optional(std::chrono::duration<double>(seconds)) : std::nullopt;
}

int verbosity() noexcept {
    static constinit Once<int> level;
    const int told = told_verbosity.load(std::memory_order_relaxed);
    return told < 0 ? level.get([] { return parsed(which_verbose, level_named).value_or(0); }) : told;
}

tollbar_network network() noexcept { return parsed(which_network, network_named).value_or(TOLLBAR_NETWORK_AUTO); }

std::string nicd_socket() {
    const char* value = value_of(which_nicd);
    return value == nullptr ? default_nicd_socket : value;
}

std::string secret_of_run() { return text_of("_TOLLBAR_RUN"); }

std::string library_folders() { return text_of("LD_LIBRARY_PATH"); }

std::string report_file() {
    const std::string file = text_of(table[which_report].name);
    return file == "-" ? "" : file;
}

void refuse_report_file(std::string_view why) {
    tollbar_say_once(table[which_report].name, "TOLLBAR_REPORT is '%s': %s; using the default, stderr",
                     report_file().c_str(), std::string(why).c_str());
}

std::string cache_folder() {
    const std::string cache = text_of("XDG_CACHE_HOME");  // of which a relative one does not count
    if (cache.starts_with('/')) return cache + "/tollbar";
    const std::string home = text_of("HOME");
    return home.empty() ? "" : home + "/.cache/tollbar";
}

std::string tuning_file() {
    if (const char* value = value_of(which_tuning)) return value;
    const std::string cache = cache_folder();
    return cache.empty() ? "" : cache + "/tuning";
}

bool names_openmp_tools() noexcept {
    const char* tool = value_of("OMP_TOOL");
    return value_of("OMP_TOOL_LIBRARIES") != nullptr && (tool == nullptr || std::strcmp(tool, "disabled") != 0);
}

bool changes_static_loops() noexcept {
    constexpr std::array names{"KMP_SCHEDULE", "KMP_CONSISTENCY_CHECK", "INTEL_LIBITTNOTIFY64"};
    return std::ranges::any_of(names, [](const char* name) { return value_of(name) != nullptr; });
}

pid_t launcher_of(pid_t rank) {
    pid_t process = stat_of(rank).parent;
    while (process > 1 && is_of_a_rank(process)) process = stat_of(process).parent;
    return process;
}

std::vector<Setting> settings() {
    std::vector<Setting> all;
    for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
        const std::string_view setting(*at);
        const std::size_t equals = setting.find('=');
        if (!setting.starts_with("TOLLBAR_") || equals + 1 >= setting.size()) continue;
        const std::string name(setting.substr(0, equals));
        const std::string value(setting.substr(equals + 1));
        all.push_back({name, value, complaint_of(name, value)});
    }
    std::ranges::sort(all, {}, &Setting::name);
    return all;
}

}  // namespace environment

}  // namespace tollbar::detail

using namespace tollbar;
using namespace tollbar::detail;

int tollbar_verbosity(void) { return environment::verbosity(); }

void tollbar_set_verbosity(int level) { environment::told_verbosity.store(level, std::memory_order_relaxed); }

double tollbar_timeout(void) {
    const auto timeout = environment::timeout();
    return timeout ? timeout->count() : 0;
}

int tollbar_first_of_job(void) {
    for (const Launcher& one : launchers)
        if (const char* rank = one.of_mpi ? environment::value_of(one.rank) : nullptr)
            return std::strcmp(rank, "0") == 0 ? 1 : 0;
    return 1;
}

int tollbar_is_bound_at_start(void) { return environment::value_of("LD_BIND_NOW") != nullptr ? 1 : 0; }

int tollbar_name_of_job(char* text, size_t size) {
    const char* own = environment::value_of("PMIX_NAMESPACE");
    std::string name = own == nullptr ? "" : own;
    for (const char* variable : {"I_MPI_HYDRA_UUID", "SLURM_JOB_ID", "SLURM_STEP_ID", "PMI_JOBID"})
        if (const char* value = environment::value_of(variable)) name.append(name.empty() ? "" : ":").append(value);
    text[name.copy(text, size - 1)] = '\0';
    return own != nullptr ? 1 : 0;
}

int tollbar_name_of_step(int rank, int ranks, char* text, size_t size) {
    const auto value = [](const char* name) {
        const char* const found = environment::value_of(name);
        return std::string(found == nullptr ? "" : found);
    };
    std::string name = value("PMIX_NAMESPACE");
    if (!name.starts_with("slurm.pmix.")) {
        name = value("SLURM_JOB_ID") + "." + value("SLURM_STEP_ID");
        if (name.size() < 3 || name != value("PMI_JOBID")) name.clear();
    }
    // A launcher that srun has started leaves its ranks the variables of its own rank.
    if (value("SLURM_PROCID") != std::to_string(rank) || value("SLURM_STEP_NUM_TASKS") != std::to_string(ranks))
        name.clear();
    text[name.copy(text, size - 1)] = '\0';
    return name.empty() ? 0 : 1;
}

const char* tollbar_keeper_of_run(void) { return environment::value_of("_TOLLBAR_KEEPER"); }

const char* tollbar_host_of_srun(void) { return environment::value_of("SLURM_LAUNCH_NODE_IPADDR"); }

int tollbar_to_level(const char* text, int* level) {
    const auto named = environment::level_named(text);
    if (named) *level = *named;
    return named ? 1 : 0;
}

int tollbar_to_network(const char* text, enum tollbar_network* network) {
    const auto named = network_named(text);
    if (named) *network = *named;
    return named ? 1 : 0;
}

const char* tollbar_accepted(const char* variable) {
    for (const environment::Variable& one : environment::table)
        if (std::strcmp(one.name, variable) == 0) return one.accepted;
    return "";
}
