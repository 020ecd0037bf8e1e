// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-omp-gomp and tollbar-bench-omp-omp: `#pragma omp barrier` of the runtime this file is compiled for,
// measured exactly as tollbar-bench-threads measures. The build gives that runtime's name as TOLLBAR_OMP_RUNTIME.
#include "openmp_team.hpp"

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
    roster.add<Everywhere<OpenMpBarrier>>({TOLLBAR_OMP_RUNTIME, "peer", policy()}, launch.options.ranks);
    if (!launch.keeps(roster)) return 0;
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
