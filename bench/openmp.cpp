// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-omp-gomp and tollbar-bench-omp-omp: `#pragma omp barrier` of the runtime this file is compiled for, and
// where it is asked for the end of `#pragma omp for`, measured exactly as tollbar-bench-threads measures. The build
// gives that runtime's name as TOLLBAR_OMP_RUNTIME; with libtollbar_openmp.so in the process, names end in _door.
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
    const auto add_loop = [&](Roster& more, const std::string& name, const std::string&) {
        if (name != runtime + "_for" + door) return false;
        more.add<Everywhere<OpenMpFor>>({name, kind, policy()}, launch.options.ranks);
        return true;
    };
    if (!launch.keeps(roster, add_loop)) return 0;
    launch.begin({{"glibc", gnu_get_libc_version()}, {"openmp", std::to_string(_OPENMP)}});
    TeamCrew crew(launch);
    return measure_roster(launch, crew, roster);
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run({.name = "tollbar-bench-omp", .measure = measure}, count, words);
}
