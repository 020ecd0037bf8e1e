// SPDX-License-Identifier: Apache-2.0
// Control groups of the cpu controller, made for a measurement and removed after it.
#include "cpu_groups.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace tollbar::bench {

namespace {

namespace fs = std::filesystem;

const std::string prefix = "tollbar-bench-";

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool has_word(const std::string& text, const std::string& word) {
    std::istringstream words(text);
    return std::find(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>(), word) !=
           std::istream_iterator<std::string>();
}

/// The caller's group of the v1 controller "cpu"; empty when there is none.
fs::path own_v1_group() {
    std::istringstream file(text_of("/proc/self/cgroup"));
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        if ((',' + line.substr(first + 1, second - first - 1) + ',').find(",cpu,") == std::string::npos) continue;
        for (const fs::path mount : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"})
            if (fs::exists(mount / "cpu.shares")) {
                const fs::path own = mount / fs::path(line.substr(second + 1)).relative_path();
                return fs::exists(own) ? own : mount;  // the path may be that of another namespace
            }
    }
    return {};
}

/// The folder in which groups can be made. Throws std::runtime_error.
fs::path parent() {
    if (fs::path v1 = own_v1_group(); !v1.empty()) return v1;
    const fs::path top = "/sys/fs/cgroup";
    if (!fs::exists(top / "cgroup.controllers")) throw std::runtime_error("there is no cpu controller");
    if (!has_word(text_of(top / "cgroup.subtree_control"), "cpu"))
        throw std::runtime_error("the cpu controller is not given to groups below /sys/fs/cgroup");
    return top;
}

bool is_running(const fs::path& folder) {
    const std::string name = folder.filename().string().substr(prefix.size());
    pid_t process = 0;
    std::from_chars(name.data(), name.data() + name.size(), process);
    return process > 0 && (kill(process, 0) == 0 || errno != ESRCH);
}

/// The kernel gives each step of nice a quarter more.
void set_weight(const fs::path& folder, int nice) {
    constexpr double shares_of_nice_0 = 1024;
    const double shares = shares_of_nice_0 * std::pow(1.25, -nice);
    std::ofstream(folder / "cpu.shares") << std::lround(shares) << std::flush;                           // v1
    std::ofstream(folder / "cpu.weight") << std::lround(shares * 100 / shares_of_nice_0) << std::flush;  // v2
}

fs::path folder_of(const fs::path& within, pid_t maker, Rank rank) {
    return within / (prefix + std::to_string(maker) + '-' + std::to_string(rank));
}

/// Whether there is such a file and it takes the text.
bool wrote(const fs::path& file, const std::string& text) {
    if (!fs::exists(file)) return false;
    std::ofstream out(file);
    out << text << std::flush;
    return out.good();
}

void enter_folder(const fs::path& folder) {
    const fs::path file = folder / "cgroup.procs";
    std::ofstream out(file);
    out << getpid() << std::flush;
    if (!out) throw std::runtime_error("cannot enter " + file.string());
}

void remove_left_overs(const fs::path& within) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(within, ignored))
        if (entry.path().filename().string().starts_with(prefix) && !is_running(entry.path()))
            rmdir(entry.path().c_str());
}

}  // namespace

CpuGroups::CpuGroups(Rank ranks, int nice) {
    const fs::path within = parent();
    remove_left_overs(within);
    for (Rank rank = 0; rank < ranks; ++rank) {
        const fs::path folder = folder_of(within, getpid(), rank);
        std::error_code error;
        if (!fs::create_directory(folder, error)) {
            remove();
            throw std::runtime_error("cannot make " + folder.string() + ": " + error.message());
        }
        folders_.push_back(folder);
        set_weight(folder, nice);
    }
}

CpuGroups::~CpuGroups() { remove(); }

void CpuGroups::remove() noexcept {
    constexpr int tries = 100;  // a process that has just ended may still count as inside
    for (const fs::path& folder : folders_)
        for (int i = 0; i < tries && rmdir(folder.c_str()) != 0 && errno == EBUSY; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
    folders_.clear();
}

void CpuGroups::enter(Rank rank) const { enter_folder(folders_[rank]); }
void CpuGroups::enter(pid_t maker, Rank rank) { enter_folder(folder_of(parent(), maker, rank)); }

void CpuGroups::limit(Rank rank, double cpus) const {
    constexpr long period_us = 100'000;
    const std::string period = std::to_string(period_us);
    const std::string quota = std::to_string(std::lround(cpus * period_us));
    const fs::path& folder = folders_[rank];
    if (wrote(folder / "cpu.max", quota + ' ' + period)) return;                                           // v2
    if (wrote(folder / "cpu.cfs_period_us", period) && wrote(folder / "cpu.cfs_quota_us", quota)) return;  // v1
    throw std::runtime_error("cannot set a quota in " + folder.string());
}

std::optional<int> autogroup_nice() {
    std::ifstream file("/proc/self/autogroup");
    std::string name;
    std::string word;
    int nice = 0;
    return file >> name >> word >> nice ? std::optional(nice) : std::nullopt;
}

void set_autogroup_nice(int nice) { std::ofstream("/proc/self/autogroup") << nice << std::flush; }

void leave_session() {
    const std::optional<int> nice = autogroup_nice();
    if (setsid() < 0) throw std::system_error(errno, std::generic_category(), "setsid");
    if (nice) set_autogroup_nice(*nice);
}

}  // namespace tollbar::bench
