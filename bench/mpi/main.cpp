// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-mpi-NAME: every barrier between the processes of an MPI job, side by side. Rank 0 prints.
#include "candidates.hpp"
#include "choose.hpp"
#include "cpu_groups.hpp"
#include "environment.hpp"
#include "flags.hpp"
#include "once.hpp"
#include "options.hpp"
#include "process_crew.hpp"
#include "one_message.hpp"
#include "rounds.hpp"
#include "selection.hpp"

#include <unistd.h>

#include <cstdio>
#include <memory>

namespace tollbar::bench {

namespace {

constexpr const char* program = TOLLBAR_BENCH_PROGRAM;

/// Nothing but rank 0's records is to be read.
void be_silent() {
    if (std::freopen("/dev/null", "w", stdout) == nullptr) throw std::runtime_error("/dev/null cannot be opened");
}

struct Asked {
    MpiFlags flags;
    Options options;
};

Asked read(const MpiJob& job, int count, char** words) {
    std::vector<const char*> left(words, words + count);
    Asked asked{.flags = take_mpi_flags(left), .options = {}};
    asked.options = parse_options(static_cast<int>(left.size()), left.data());
    asked.options.ranks = job.ranks();
    if (job.ranks() < 2 && !asked.options.help)
        throw WrongUse("there is one rank; start more by the MPI's own launcher: mpirun -n 2 " + std::string(program));
    return asked;
}

/// In a group or session of its own, as asked for. Rank 0 has the groups and removes them.
std::unique_ptr<CpuGroups> keep_apart(const MpiJob& job, const MpiFlags& flags) {
    if (getsid(0) == getpid()) set_autogroup_nice(flags.session_nice);
    std::unique_ptr<CpuGroups> groups;
    if (!flags.cgroups) return groups;
    int maker = getpid();
    int made = 1;
    std::string why;
    if (job.rank() == 0) try {
            groups = std::make_unique<CpuGroups>(job.ranks(), flags.session_nice);
        } catch (const std::exception& error) {
            made = 0;
            why = error.what();
        }
    PMPI_Bcast(&maker, 1, MPI_INT, 0, MPI_COMM_WORLD);
    PMPI_Bcast(&made, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (made == 0) throw std::runtime_error("no control groups: " + (why.empty() ? "rank 0 says why" : why));
    CpuGroups::enter(maker, job.rank());
    return groups;
}

int measure(const MpiJob& job, const Asked& asked) {
    const Options& options = asked.options;
    const Rank hosts = job.hosts();
    const auto p2p = std::make_shared<PointToPoint>();
    Roster roster = mpi_roster(job, hosts, p2p);
    if (!options.only.empty())
        select(roster, options.only, [&](Roster& to, const std::string& name, const std::string& wait) {
            return add_spelled(to, job, p2p, name, wait);
        });
    if (options.list) {
        print_list(roster);
        return 0;
    }
    roster.versions = {{"mpi", MpiJob::mpi()},
                       {"door", MpiJob::door()},
                       {"setting", asked.flags.setting},
                       {"apart", asked.flags.cgroups ? "cgroups" : "launcher"},
                       {"hosts", std::to_string(hosts)}};

    const std::unique_ptr<CpuGroups> groups = keep_apart(job, asked.flags);
    const std::vector<int> cpus = usable_cpus();
    Pace pace = pace_for(options, cpus.size());
    pace.isolated = 50;
    print_environment(program, options, cpus, pace, roster.versions);
    if (asked.flags.round_trips) {
        measure_round_trips(job, *p2p, options, cpus, pace);
        return 0;
    }
    Team alone;
    ProcessCrew crew(job, Places(options.placement, cpus), pace, job.ranks() > cpus.size(), alone);
    measure_set_up(crew, pace, asked.flags.communicators);
    measure_lateness(crew, pace, asked.flags.late_ms);
    return run_rounds(crew, roster, options, cpus, pace) ? 0 : 1;
}

int run(int count, char** words) {
    const MpiJob job(&count, &words);
    const auto complain = [&](const std::exception& error) {
        if (job.rank() == 0) std::fprintf(stderr, "%s: %s\n", program, error.what());
    };
    try {
        if (job.rank() != 0) be_silent();
        const Asked asked = read(job, count, words);
        if (asked.options.help) {
            std::fputs((usage(program) + usage_of_mpi_flags()).c_str(), stdout);
            return 0;
        }
        if (asked.flags.choose_ms <= 0) return measure(job, asked);
        choose_plans(job, asked.flags.choose_ms);
        return 0;
    } catch (const WrongUse& wrong) {
        complain(wrong);  // everybody has read the same words
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: rank %u: %s\n", program, job.rank(), error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) { return tollbar::bench::run(count, words); }
