// SPDX-License-Identifier: Apache-2.0
// Processes that the kernel schedules in groups of their own, by session or by cgroup, wake each other all the same.
#include "toll.hpp"

#include "base/environment.hpp"

#include <tollbar/detail/cpus.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;

namespace {

constexpr Rank ranks = 4;

/// What the suite has to say of ranks that have each gone where `go` takes them before they join.
std::vector<std::string> complaints_after(const std::function<void(Rank)>& go, const char* plan, wait_policy wait) {
    group group(ranks, {.plan = plan, .wait = wait, .scope = Scope::shared});
    ProcessHarness harness(ranks, [&](Rank rank, Board& board) {
        go(rank);
        serve(group, board, rank);
    });
    return complaints(harness, {0, ranks - 1}, {.episodes = 60 / slowness, .late_every = 2, .mixed = true});
}

/// New groups of the CPU controller, one for each rank, where the test may make them.
class CpuGroups {
public:
    CpuGroups() {
        for (const char* root : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup"}) {
            base_ = std::string(root) + "/tollbar-test-" + std::to_string(getpid());
            std::error_code error;
            if (!std::filesystem::exists(std::string(root) + "/cgroup.procs", error)) continue;
            for (Rank rank = 0; rank < ranks && !error; ++rank)
                if (std::filesystem::create_directory(of(rank), error)) made_.push_back(of(rank));
            if (made_.size() == ranks) return;
        }
    }

    ~CpuGroups() {
        for (const std::string& group : made_) {
            std::error_code still_busy;
            while (!std::filesystem::remove(group, still_busy) && still_busy) sched_yield();
        }
    }

    bool available() const { return made_.size() == ranks; }
    std::string of(Rank rank) const { return base_ + "-" + std::to_string(rank); }

private:
    std::string base_;
    std::vector<std::string> made_;
};

}  // namespace

TEST_CASE("processes in sessions of their own conform") {
    for (const char* plan : {"turnstile", "combination:2", "dissemination", "mcs"})
        for (const wait_policy wait : {wait_policy::automatic, wait_policy::park, wait_policy::yield}) {
            CAPTURE(plan);
            CAPTURE(name_of(wait));
            CHECK(complaints_after([](Rank) { setsid(); }, plan, wait).empty());
        }
}

TEST_CASE("processes in cgroups of their own conform") {
    const CpuGroups groups;
    if (!groups.available()) {
        MESSAGE("left out: no right to make groups of the CPU controller");
        return;
    }
    const auto go = [&](Rank rank) {
        std::ofstream procs(groups.of(rank) + "/cgroup.procs");
        procs << getpid() << std::flush;
        if (!procs) _exit(1);
    };
    for (const char* plan : {"turnstile", "combination:2", "dissemination", "mcs"})
        for (const wait_policy wait : {wait_policy::automatic, wait_policy::park}) {
            CAPTURE(plan);
            CAPTURE(name_of(wait));
            CHECK(complaints_after(go, plan, wait).empty());
        }
}
