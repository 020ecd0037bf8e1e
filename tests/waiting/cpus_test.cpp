// SPDX-License-Identifier: Apache-2.0
// How many CPUs there are for us: cgroup trees of every kind, and who shares a CPU.
#include <tollbar/detail/cpus.hpp>

#include "child.hpp"
#include "temporary.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <string>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t unlimited = UINT32_MAX;

/// A folder with a /proc and a /sys of the test's making.
class Machine {
public:
    Machine& with(const std::string& path, const std::string& text) {
        root_.write(path, text);
        return *this;
    }
    std::uint32_t quota() const { return quota_cpus(root_.path()); }

private:
    testing::TemporaryFolder root_;
};

CpuSet cpus(std::initializer_list<std::uint32_t> list) {
    CpuSet set;
    for (const std::uint32_t cpu : list) set.bits[cpu / 64] |= std::uint64_t{1} << cpu % 64;
    return set;
}

std::vector<Standing> pinned_to(std::initializer_list<std::uint32_t> list) {
    std::vector<Standing> all;
    for (const std::uint32_t cpu : list) all.push_back({.cpus = cpus({cpu})});
    return all;
}

/// A new cgroup with a quota of three CPUs, where this process may make one.
class Cgroup {
public:
    Cgroup() {
        const std::string name = "/tollbar-test-" + std::to_string(getpid());
        for (const char* mount : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup"}) {
            std::error_code error;
            if (!fs::exists(std::string(mount) + "/cgroup.procs")) continue;
            if (!fs::create_directory(mount + name, error)) continue;
            folder_ = mount + name;
            if (write("cpu.cfs_period_us", "100000") && write("cpu.cfs_quota_us", "350000")) return;
            if (write("cpu.max", "350000 100000")) return;
            fs::remove(folder_, error);
            folder_.clear();
        }
    }
    ~Cgroup() {
        std::error_code error;
        if (!folder_.empty()) fs::remove(folder_, error);
    }
    Cgroup(const Cgroup&) = delete;
    Cgroup& operator=(const Cgroup&) = delete;

    bool made() const { return !folder_.empty(); }
    bool enter() const { return write("cgroup.procs", std::to_string(getpid())); }

private:
    bool write(const std::string& file, const std::string& text) const {
        if (!fs::exists(folder_ + "/" + file)) return false;
        std::ofstream stream(folder_ + "/" + file);
        stream << text << std::flush;
        return stream.good();
    }

    std::string folder_;
};

}  // namespace

TEST_CASE("without cgroups or quota there is no limit") {
    CHECK(Machine().quota() == unlimited);
    CHECK(Machine().with("/proc/self/cgroup", "0::/\n").quota() == unlimited);
    CHECK(
        Machine().with("/proc/self/cgroup", "0::/user\n").with("/sys/fs/cgroup/user/cpu.max", "max 100000\n").quota() ==
        unlimited);
    CHECK(Machine()
              .with("/proc/self/cgroup", "3:cpu:/user\n")
              .with("/sys/fs/cgroup/cpu/user/cpu.cfs_quota_us", "-1\n")
              .with("/sys/fs/cgroup/cpu/user/cpu.cfs_period_us", "100000\n")
              .quota() == unlimited);
}

TEST_CASE("a quota of version 2 is rounded down, but to no less than one CPU") {
    const auto with = [](const std::string& line) {
        return Machine().with("/proc/self/cgroup", "0::/job\n").with("/sys/fs/cgroup/job/cpu.max", line).quota();
    };
    CHECK(with("200000 100000\n") == 2);
    CHECK(with("399999 100000\n") == 3);
    CHECK(with("50000 100000\n") == 1);
    CHECK(with("10000 5000") == 2);
}

TEST_CASE("a quota of version 1 is found under either name of its mount") {
    for (const std::string mount : {"cpu", "cpu,cpuacct"}) {
        const std::string folder = "/sys/fs/cgroup/" + mount + "/job";
        CHECK(Machine()
                  .with("/proc/self/cgroup", "7:memory:/elsewhere\n4:cpu,cpuacct:/job\n")
                  .with(folder + "/cpu.cfs_quota_us", "450000\n")
                  .with(folder + "/cpu.cfs_period_us", "100000\n")
                  .quota() == 4);
    }
}

TEST_CASE("controllers whose names only begin like cpu do not count") {
    CHECK(Machine()
              .with("/proc/self/cgroup", "3:cpuset:/job\n2:cpuacct:/job\n")
              .with("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "200000\n")
              .with("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n")
              .quota() == unlimited);
}

TEST_CASE("in a hybrid tree both versions count and the tighter one decides") {
    Machine machine;
    machine.with("/proc/self/cgroup", "1:cpu:/a\n0::/b\n")
        .with("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "500000\n")
        .with("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n")
        .with("/sys/fs/cgroup/unified/b/cpu.max", "300000 100000\n");
    CHECK(machine.quota() == 3);
    machine.with("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "200000\n");
    CHECK(machine.quota() == 2);
}

TEST_CASE("the tightest ancestor decides, the mount's own folder included") {
    Machine machine;
    machine.with("/proc/self/cgroup", "0::/a/b/c\n")
        .with("/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n")
        .with("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
        .with("/sys/fs/cgroup/a/cpu.max", "500000 100000\n");
    CHECK(machine.quota() == 5);
    machine.with("/sys/fs/cgroup/a/b/cpu.max", "600000 100000\n");
    CHECK(machine.quota() == 5);
    machine.with("/sys/fs/cgroup/cpu.max", "400000 100000\n");  // as a container sees its own limit
    CHECK(machine.quota() == 4);
    machine.with("/sys/fs/cgroup/a/b/c/cpu.max", "100000 100000\n");
    CHECK(machine.quota() == 1);
}

TEST_CASE("malformed files grant what they cannot take away") {
    for (const char* line :
         {"", "\n", "100000\n", "x y\n", "-5 100000\n", "100000 0\n", "0 100000\n", "1e5 1e5 1e5\n", "nan 1\n"}) {
        CAPTURE(line);
        CHECK(Machine().with("/proc/self/cgroup", "0::/j\n").with("/sys/fs/cgroup/j/cpu.max", line).quota() ==
              unlimited);
    }
    CHECK(Machine().with("/proc/self/cgroup", "nonsense\n::\n:\n\n5:cpu\n").quota() == unlimited);
    CHECK(Machine()
              .with("/proc/self/cgroup", "1:cpu:/j\n")
              .with("/sys/fs/cgroup/cpu/j/cpu.cfs_quota_us", "100000\n")  // and no period
              .quota() == unlimited);
    CHECK(Machine()
              .with("/proc/self/cgroup", "0::/j\n")
              .with("/sys/fs/cgroup/j/cpu.max", "99999999999999999999 1\n")
              .quota() == unlimited);
}

TEST_CASE("a real cgroup's quota is seen by who is put into it") {
    const Cgroup cgroup;
    if (!cgroup.made()) {
        MESSAGE("skipped: no cgroup with a quota can be made here");
        return;
    }
    const auto outcome = testing::in_child([&] {
        if (!cgroup.enter()) _exit(1);
        std::printf("quota %u", quota_cpus());
    });
    CHECK(outcome.succeeded());
    CHECK(outcome.said == "quota 3");
}

TEST_CASE("a process always has a CPU") {
    CHECK(usable_cpus() >= 1);
    CHECK(usable_cpus() <= masked_cpus());
    CHECK(masked_cpus() == std::max<std::uint32_t>(1, affinity().count()));
    CHECK(affinity().count() >= 1);
}

TEST_CASE("sets of CPUs unite, contain and count") {
    const CpuSet small = cpus({0, 65});
    const CpuSet large = cpus({0, 3, 65, 1023});
    CHECK(CpuSet{}.count() == 0);
    CHECK(large.count() == 4);
    CHECK(small.within(large));
    CHECK_FALSE(large.within(small));
    CHECK((small | cpus({3, 1023})) == large);
}

TEST_CASE("a CPU has its number among those of a set") {
    const CpuSet some = cpus({0, 3, 64, 65, 1023});
    CHECK(some.below(0) == 0);
    CHECK(some.below(3) == 1);
    CHECK(some.below(64) == 2);
    CHECK(some.below(65) == 3);
    CHECK(some.below(1023) == 4);
    CHECK(some.below(5000) == 5);
    if (const std::uint32_t cpu = NativeSync::cpu(); masked_cpus() > 1) CHECK(cpu <= masked_cpus());
}

TEST_CASE("each on a CPU of their own is roomy, two on one is crowded") {
    CHECK(occupancy_of(pinned_to({0})) == Occupancy::exclusive);
    CHECK(occupancy_of(pinned_to({0, 1, 2, 3})) == Occupancy::exclusive);
    CHECK(occupancy_of(pinned_to({0, 1, 2, 0})) == Occupancy::oversubscribed);
}

TEST_CASE("more unpinned participants than CPUs are crowded") {
    const Standing anywhere{.cpus = cpus({0, 1})};
    CHECK(occupancy_of(std::vector(2, anywhere)) == Occupancy::exclusive);
    CHECK(occupancy_of(std::vector(3, anywhere)) == Occupancy::oversubscribed);
}

TEST_CASE("who is confined to few CPUs is crowded there even when others have room") {
    std::vector<Standing> all(3, {.cpus = cpus({0, 1})});
    all.push_back({.cpus = cpus({0, 1, 2, 3, 4, 5, 6, 7})});
    CHECK(occupancy_of(all) == Occupancy::oversubscribed);
    all.erase(all.begin());
    CHECK(occupancy_of(all) == Occupancy::exclusive);
}

TEST_CASE("sets that overlap are crowded together even when neither is alone") {
    std::vector<Standing> all(2, {.cpus = cpus({0, 1})});
    all.push_back({.cpus = cpus({1, 2})});
    all.push_back({.cpus = cpus({0, 2})});
    CHECK(occupancy_of(all) == Occupancy::oversubscribed);
    all.push_back({.cpus = cpus({10, 11, 12})});  // room elsewhere does not help them
    CHECK(occupancy_of(all) == Occupancy::oversubscribed);
}
