// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-hybrid-NAME: barriers between all threads of all ranks of an MPI job, side by side. Rank 0 prints.
#include "job.hpp"
#include "openmp_team.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/mpi.hpp>

#include <array>
#include <memory>
#include <stdexcept>

namespace tollbar::bench {

namespace {

/// Each thread has its number; ranks of a launch are threads, rank by rank.
class Combined {
public:
    Combined(Rank threads, const std::string& inner, const std::string& outer)
        : threads_(threads), barrier_(MPI_COMM_WORLD, threads, inner, outer) {}

    struct Seat {
        mpi_barrier& barrier;
        unsigned thread;
        void episode() { barrier.arrive_and_wait(thread); }
    };
    Seat seat(Rank rank) { return {barrier_, rank % threads_}; }

private:
    Rank threads_;
    mpi_barrier barrier_;
};

/// The MPI's own barrier on a duplicate of the world.
class OwnOfTheMpi {
public:
    OwnOfTheMpi() { PMPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
    ~OwnOfTheMpi() { PMPI_Comm_free(&comm_); }
    OwnOfTheMpi(const OwnOfTheMpi&) = delete;
    OwnOfTheMpi& operator=(const OwnOfTheMpi&) = delete;

    void episode() const noexcept { PMPI_Barrier(comm_); }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// The barrier that stands in every hybrid program.
class AroundOpenMp {
public:
    struct Seat {
        const OwnOfTheMpi& ranks;
        void episode() const {
#pragma omp barrier
#pragma omp master
            ranks.episode();
#pragma omp barrier
        }
    };
    Seat seat(Rank) const { return {ranks_}; }

private:
    OwnOfTheMpi ranks_;
};

class AroundPthread {
public:
    explicit AroundPthread(Rank threads) : before_(threads), after_(threads) {}

    struct Seat {
        AroundPthread& all;
        void episode() const {
            if (all.before_.meet()) all.ranks_.episode();
            all.after_.meet();
        }
    };
    Seat seat(Rank) { return {*this}; }

private:
    Meeting before_;
    Meeting after_;
    OwnOfTheMpi ranks_;
};

constexpr std::array inners{"turnstile", "central", "mcs", "tournament", "dissemination", "combination"};
constexpr std::array outers{"turnstile", "central", "mcs", "tournament", "dissemination"};

bool is_plan(const std::string& spelling, Rank ranks) {
    if (spelling == "turnstile" || spelling == "combination") return true;
    try {
        make_plan(spelling, ranks);
        return true;
    } catch (const std::invalid_argument&) {
        return false;
    }
}

/// Any "INNER/OUTER", for --only.
Add combined_plans(Rank ranks, Rank threads) {
    return [=](Roster& roster, const std::string& name, const std::string& wait) {
        const std::size_t slash = name.find('/');
        if (slash == std::string::npos || wait != "auto") return false;
        const std::string inner = name.substr(0, slash);
        const std::string outer = name.substr(slash + 1);
        if (!is_plan(inner, threads) || !is_plan(outer, ranks)) return false;
        roster.add<Combined>({name, "combination"}, threads, inner, outer);
        return true;
    };
}

/// Every inner with every outer plan, and the peers.
Roster hybrid_roster(Rank ranks, Rank threads) {
    Roster roster;
    roster.add<AroundOpenMp>({"omp barrier around MPI_Barrier", "mpi"});
    roster.add<AroundPthread>({"pthread_barrier around MPI_Barrier", "mpi"}, threads);
    const Add add = combined_plans(ranks, threads);
    for (const std::string inner : inners)
        for (const std::string outer : outers) add(roster, inner + "/" + outer, "auto");
    return roster;
}

constexpr Rank most_threads = 256;

struct HybridFlags {
    Rank threads = 2;
    std::string level = "serialized";
    int mpi_level = MPI_THREAD_SERIALIZED;
};

std::vector<Flag> flags_of_hybrid(HybridFlags& f) {
    const Take level = one_of(
        f.mpi_level,
        {{"funneled", MPI_THREAD_FUNNELED}, {"serialized", MPI_THREAD_SERIALIZED}, {"multiple", MPI_THREAD_MULTIPLE}});
    return {{"--threads", "T", "threads of each rank (default 2)", number(f.threads, 1, most_threads)},
            {"--level", "funneled|serialized|multiple", "who may call the MPI (default serialized)",
             [&f, level](std::string_view flag, std::string_view text) {
                 level(flag, text);
                 f.level = text;
             }}};
}

int measure(Launch& launch, const HybridFlags& flags) {
    Options& options = launch.options;
    options.threads = flags.threads;
    launch.pace = pace_for(options, launch.cpus.size());
    launch.pace.isolated = 50;
    Roster roster = hybrid_roster(options.ranks, options.threads);
    if (!launch.keeps(roster, combined_plans(options.ranks, options.threads))) return 0;
    Versions versions = mpi_versions("stock", "launcher");
    versions.push_back({"threads", std::to_string(flags.threads)});
    versions.push_back({"level", flags.level});
    launch.begin(versions);
    ProcessCrew crew(launch, std::make_unique<OpenMpTeam>(flags.threads));
    return measure_roster(launch, crew, roster);
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    HybridFlags flags;
    return run({.name = TOLLBAR_BENCH_PROGRAM,
                .flags = flags_of_hybrid(flags),
                .measure = [&](Launch& launch) { return measure(launch, flags); },
                .join = [&] { return std::make_unique<MpiJob>(flags.mpi_level); },
                .launcher = "mpirun"},
               count, words);
}
