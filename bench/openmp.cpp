// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-omp-gomp and tollbar-bench-omp-omp: `#pragma omp barrier` of the runtime this file is compiled for, and
// where they are asked for the end of `#pragma omp for` and whole regions, measured exactly as tollbar-bench-threads
// measures. The build gives that runtime's name as TOLLBAR_OMP_RUNTIME; with libtollbar_openmp.so in the process, names
// end in _door.
#include "openmp_team.hpp"

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include <cstdlib>
#include <string_view>

namespace tollbar::bench {

namespace {

/// An OpenMP team as a crew: a job is a parallel region.
class TeamCrew final : public Crew {
public:
    explicit TeamCrew(const Launch& launch) : team_(launch.options.ranks), places_(launch.places()) {}

    Rank ranks() const noexcept override { return team_.threads(); }
    void run(const Job& job) override {
        team_.run([&](Rank rank) { run_or_exit(places_, job, rank); });
    }
    void rest() override { team_.rest(); }

private:
    OpenMpTeam team_;
    Places places_;
};

struct OpenMpBarrier {
    explicit OpenMpBarrier(Rank) {}

    void episode() {
#pragma omp barrier
    }
};

/// A static loop with one turn for each thread, of which its end is all that takes time.
struct OpenMpFor {
    explicit OpenMpFor(Rank ranks) : turns(static_cast<int>(ranks)) {}

    void episode() {
#pragma omp for schedule(static)
        for (int turn = 0; turn < turns; ++turn) asm volatile("");
    }

    int turns;
};

/// A region without a barrier inside, of the caller and the other threads of its pool.
struct OpenMpRegion {
    explicit OpenMpRegion(Rank) {}

    void episode() {
#pragma omp parallel
        asm volatile("");
    }
};

/// A region whose first thread makes some tasks, which all of its threads do.
struct OpenMpTasks {
    explicit OpenMpTasks(Rank) {}

    void episode() {
#pragma omp parallel
#pragma omp single
        for (int task = 0; task < 20; ++task) {
#pragma omp task
            asm volatile("");
        }
    }
};

/// The thread that opens regions. Its pool's threads would inherit a CPU that it is pinned to.
class MasterCrew final : public Crew {
public:
    explicit MasterCrew(const Launch& launch) : team_(launch.options.ranks), places_(launch.places()) {
        if (launch.options.placement == Placement::pinned) throw WrongUse("regions are measured with --placement free");
    }

    Rank ranks() const noexcept override { return 1; }
    void run(const Job& job) override { run_or_exit(places_, job, 0); }
    void rest() override { team_.rest(); }

private:
    OpenMpTeam team_;
    Places places_;
};

/// Whether the calls that compilers make at a barrier go to the preload.
bool has_door() { return dlsym(RTLD_DEFAULT, "tollbar_openmp_refusal") != nullptr; }

/// The policy is the process's; it is set from outside, before the runtime starts.
std::string policy() {
    const char* asked = std::getenv("OMP_WAIT_POLICY");
    const std::string_view name = asked == nullptr ? "" : asked;
    if (name == "active" || name == "ACTIVE") return "spin";
    if (name == "passive" || name == "PASSIVE") return "park";
    return "auto";
}

int measure(Launch& launch) {
    Roster roster;
    const std::string runtime = TOLLBAR_OMP_RUNTIME, door = has_door() ? "_door" : "";
    const std::string kind = has_door() ? "barrier" : "peer";
    roster.add<Everywhere<OpenMpBarrier>>({runtime + door, kind, policy()}, launch.options.ranks);
    std::size_t regions = 0;
    const auto add_more = [&](Roster& more, const std::string& name, const std::string&) {
        const Label label{name, kind, policy()};
        const Rank threads = launch.options.ranks;
        if (name == runtime + "_for" + door) {
            more.add<Everywhere<OpenMpFor>>(label, threads);
            return true;
        }
        if (name == runtime + "_region" + door)
            more.add<Everywhere<OpenMpRegion>>(label, threads);
        else if (name == runtime + "_tasks" + door)
            more.add<Everywhere<OpenMpTasks>>(label, threads);
        else
            return false;
        ++regions;
        return true;
    };
    if (!launch.keeps(roster, add_more)) return 0;
    if (regions != 0 && regions != roster.candidates.size())
        throw WrongUse("--only: whole regions are measured in a launch of their own");
    launch.begin({{"glibc", gnu_get_libc_version()}, {"openmp", std::to_string(_OPENMP)}});
    std::unique_ptr<Crew> crew;
    if (regions != 0)
        crew = std::make_unique<MasterCrew>(launch);
    else
        crew = std::make_unique<TeamCrew>(launch);
    return measure_roster(launch, *crew, roster);
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run({.name = "tollbar-bench-omp", .measure = measure}, count, words);
}
