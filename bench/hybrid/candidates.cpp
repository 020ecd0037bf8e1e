// SPDX-License-Identifier: Apache-2.0
// A combined barrier is made by one thread of each rank and used by all of them.
#include "candidates.hpp"

#include "barriers.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/mpi.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string_view>

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

/// What stands in every hybrid program.
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
            if (pthread_barrier_wait(&all.before_.barrier) == PTHREAD_BARRIER_SERIAL_THREAD) all.ranks_.episode();
            pthread_barrier_wait(&all.after_.barrier);
        }
    };
    Seat seat(Rank) { return {*this}; }

private:
    PthreadBarrier before_;
    PthreadBarrier after_;
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

}  // namespace

Roster hybrid_roster(const MpiJob& job, Rank threads) {
    Roster roster;
    roster.add<AroundOpenMp>({"omp barrier around MPI_Barrier", "mpi"});
    roster.add<AroundPthread>({"pthread_barrier around MPI_Barrier", "mpi"}, threads);
    for (const std::string inner : inners)
        for (const std::string outer : outers) add_combined(roster, job, threads, inner + "/" + outer, "auto");
    return roster;
}

bool add_combined(Roster& roster, const MpiJob& job, Rank threads, const std::string& name, const std::string& wait) {
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos || wait != "auto") return false;
    const std::string inner = name.substr(0, slash);
    const std::string outer = name.substr(slash + 1);
    if (!is_plan(inner, threads) || !is_plan(outer, job.ranks())) return false;
    roster.add<Combined>({name, "combination"}, threads, inner, outer);
    return true;
}

}  // namespace tollbar::bench
