// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-mpi-NAME: every barrier between the processes of an MPI job, side by side. Rank 0 prints.
#include "cpu_groups.hpp"
#include "measures.hpp"

#include <unistd.h>

#include <memory>
#include <stdexcept>

namespace tollbar::bench {

namespace {

struct MpiFlags {
    std::string setting = "stock";     ///< what the caller calls the way the MPI is set up
    bool cgroups = false;              ///< a control group for each rank
    int session_nice = 0;              ///< of the session that a launcher gave a rank for itself
    std::uint64_t late_ms = 1000;      ///< how late the last rank is, once; 0: never
    std::uint64_t communicators = 12;  ///< how many are set up and timed; 0: none
    bool round_trips = false;          ///< one message between two ranks instead of barriers
    double choose_ms = 0;              ///< only choose a plan for each objective, in so long; 0: measure
};

std::vector<Flag> flags_of_mpi(MpiFlags& f) {
    return {
        {"--setting", "NAME", "what to call the way the MPI is set up, in the environment record (default stock)",
         text(f.setting)},
        {"--apart", "launcher|cgroups", "ranks as the launcher keeps them, or each in a control group of its own",
         one_of(f.cgroups, {{"launcher", false}, {"cgroups", true}})},
        {"--session-nice", "N", "nice value of the sessions that a launcher gives to single ranks (default 0)",
         number(f.session_nice, -20, 19)},
        {"--late-ms", "MS", "how late the last rank is, once (default 1000; 0: never)",
         number(f.late_ms, 0, 3'600'000)},
        {"--communicators", "N", "how many are duplicated, up to the end of their first barrier (default 12; 0: none)",
         number(f.communicators, 0, 1000)},
        {"--measure", "barriers|round-trips",
         "barriers (default), or one message between two ranks, from which `tollbar logp` takes L, o and g",
         one_of(f.round_trips, {{"barriers", false}, {"round-trips", true}})},
        {"--choose", "MS",
         "have the library choose and store a plan for each objective in so long; measure nothing else",
         amount(f.choose_ms, 1, 1, 600'000)},
    };
}

/// In a group or session of its own, as asked for. Rank 0 has the groups and removes them.
std::unique_ptr<CpuGroups> keep_apart(const Peers& peers, const MpiFlags& flags) {
    if (getsid(0) == getpid()) set_autogroup_nice(flags.session_nice);
    std::unique_ptr<CpuGroups> groups;
    if (!flags.cgroups) return groups;
    std::string why = "rank 0 says why";
    if (peers.rank() == 0) try {
            groups = std::make_unique<CpuGroups>(peers.ranks(), flags.session_nice);
        } catch (const std::exception& error) {
            why = error.what();
        }
    const auto maker = static_cast<pid_t>(peers.told(static_cast<std::uint64_t>(getpid())));
    if (peers.told(groups ? 1 : 0) == 0) throw std::runtime_error("no control groups: " + why);
    CpuGroups::enter(maker, peers.rank());
    return groups;
}

int measure(Launch& launch, const MpiFlags& flags) {
    const Rank ranks = launch.options.ranks;
    const auto p2p = std::make_shared<PointToPoint>();
    if (flags.choose_ms > 0) {
        choose_plans(ranks, *p2p, flags.choose_ms);
        return 0;
    }
    Roster roster = mpi_roster(ranks, mpi_hosts(), p2p);
    if (!launch.keeps(roster, mpi_plans(ranks, p2p))) return 0;
    const std::unique_ptr<CpuGroups> groups = keep_apart(*launch.peers, flags);
    launch.pace.isolated = 50;
    launch.begin(mpi_versions(flags.setting, flags.cgroups ? "cgroups" : "launcher"));
    if (flags.round_trips) return measure_round_trips(launch, *p2p);
    ProcessCrew crew(launch);
    if (launch.options.checks()) return check_roster(launch, crew, roster);
    measure_set_up(crew, launch.pace, flags.communicators);
    measure_lateness(crew, launch.pace, flags.late_ms);
    return measure_roster(launch, crew, roster);
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    MpiFlags flags;
    return run({.name = TOLLBAR_BENCH_PROGRAM,
                .flags = flags_of_mpi(flags),
                .measure = [&](Launch& launch) { return measure(launch, flags); },
                .join = [] { return std::make_unique<MpiJob>(); },
                .launcher = "mpirun"},
               count, words);
}
