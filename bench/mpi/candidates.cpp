// SPDX-License-Identifier: Apache-2.0
// Barriers that an MPI program measures: MPI_Barrier and MPI_Ibarrier as they come, the MPI's own barrier behind a
// preload, and every plan of tollbar's by words and by messages.
#include "candidates.hpp"

#include "communicator/participant.h"

#include <tollbar/algorithms.hpp>

#include <stdexcept>
#include <system_error>

namespace tollbar::bench {

namespace {

struct Own {
    static void episode(MPI_Comm comm) noexcept { PMPI_Barrier(comm); }
};

/// A double of all ranks: a rank has the sum when all have entered.
template <auto allreduce>
struct Sum {
    static void episode(MPI_Comm comm) noexcept {
        double own = 1, sum = 0;
        allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    }
};

/// A double from each rank in turn: a rank has the last one when all have entered.
template <auto bcast>
class FromEach {
public:
    FromEach() {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
        MPI_Comm_size(comm_, &ranks_);
    }
    ~FromEach() { MPI_Comm_free(&comm_); }
    FromEach(const FromEach&) = delete;
    FromEach& operator=(const FromEach&) = delete;

    struct Seat {
        MPI_Comm comm;
        int ranks;
        void episode() const noexcept {
            double value = 0;
            for (int root = 0; root < ranks; ++root) bcast(&value, 1, MPI_DOUBLE, root, comm);
        }
    };
    Seat seat(Rank) const noexcept { return {comm_, ranks_}; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    int ranks_ = 0;
};

template <auto bcast>
struct FromFirst {
    static void episode(MPI_Comm comm) noexcept {
        double value = 0;
        bcast(&value, 1, MPI_DOUBLE, 0, comm);
    }
};

/// Calls that wait for nobody: microseconds of an episode are nanoseconds of a call. It ends in a barrier, which costs
/// a call as much with the watch as without.
template <class Call>
struct Alone {
    static void episode(MPI_Comm comm) noexcept {
        for (int i = 0; i < 1000; ++i) Call::episode(MPI_COMM_SELF);
        PMPI_Barrier(comm);
    }
};

void add_watched(Roster& roster) {
    roster.add<Called<Sum<MPI_Allreduce>>>({"MPI_Allreduce", "mpi"});
    roster.add<Called<Sum<PMPI_Allreduce>>>({"PMPI_Allreduce", "mpi"});
    roster.add<FromEach<MPI_Bcast>>({"MPI_Bcast", "mpi"});
    roster.add<FromEach<PMPI_Bcast>>({"PMPI_Bcast", "mpi"});
    roster.add<Called<Alone<Blocking>>>({"MPI_Barrier x1000 of MPI_COMM_SELF", "mpi"});
    roster.add<Called<Alone<Own>>>({"PMPI_Barrier x1000 of MPI_COMM_SELF", "mpi"});
    roster.add<Called<Alone<Sum<MPI_Allreduce>>>>({"MPI_Allreduce x1000 of MPI_COMM_SELF", "mpi"});
    roster.add<Called<Alone<Sum<PMPI_Allreduce>>>>({"PMPI_Allreduce x1000 of MPI_COMM_SELF", "mpi"});
    roster.add<Called<Alone<FromFirst<MPI_Bcast>>>>({"MPI_Bcast x1000 of MPI_COMM_SELF", "mpi"});
    roster.add<Called<Alone<FromFirst<PMPI_Bcast>>>>({"PMPI_Bcast x1000 of MPI_COMM_SELF", "mpi"});
}

/// A plan of tollbar's as every door of MPI runs it.
class PlanBarrier {
public:
    PlanBarrier(std::shared_ptr<PointToPoint> p2p, const std::string& plan, tollbar_sharing sharing)
        : p2p_(std::move(p2p)) {
        tollbar_mpi_options options{};
        options.plan = plan.c_str();
        options.name = "tollbar bench";
        options.sharing = sharing;
        if (const int error = tollbar_mpi_join(&p2p_->get(), &options, &participant_); error != 0)
            throw std::system_error(error, std::generic_category(), "joining '" + plan + "'");
    }
    ~PlanBarrier() { tollbar_mpi_leave(participant_); }
    PlanBarrier(const PlanBarrier&) = delete;
    PlanBarrier& operator=(const PlanBarrier&) = delete;

    struct Seat {
        tollbar_mpi_participant* self;
        void episode() const noexcept { tollbar_mpi_arrive_and_wait(self, nullptr); }
    };
    Seat seat(Rank) const noexcept { return {participant_}; }

private:
    std::shared_ptr<PointToPoint> p2p_;
    tollbar_mpi_participant* participant_ = nullptr;
};

constexpr const char* messages = "messages";

void add_plan_by(Roster& roster, const std::shared_ptr<PointToPoint>& p2p, const std::string& spelling,
                 const std::string& kind, const std::string& wait) {
    roster.add<PlanBarrier>({spelling, kind, wait}, p2p, spelling,
                            wait == messages ? TOLLBAR_SHARING_NEVER : TOLLBAR_SHARING_AUTO);
}

}  // namespace

PointToPoint::PointToPoint() {
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    if (tollbar_pmpi_p2p_open(comm_, &p2p_) != 0) throw std::runtime_error("the MPI does not let messages be set up");
}

PointToPoint::~PointToPoint() {
    tollbar_pmpi_p2p_close(&p2p_);
    PMPI_Comm_free(&comm_);
}

Roster mpi_roster(Rank ranks, Rank hosts, const std::shared_ptr<PointToPoint>& p2p) {
    Roster roster;
    const std::string door = mpi_door();
    roster.add<Called<Blocking>>({"MPI_Barrier", door == "none" ? "mpi" : "door"});
    roster.add<Called<Split>>({"MPI_Ibarrier", door == "component" ? "door" : "mpi"});
    if (door == "preload") {
        roster.add<Called<Own>>({"PMPI_Barrier", "mpi"});
        add_watched(roster);
    }

    const bool share = hosts < ranks;
    if (hosts == 1) add_plan_by(roster, p2p, "turnstile", "turnstile", "auto");
    if (hosts > 1 && share)
        for (const char* plan : {"turnstile/dissemination", "turnstile/tournament", "turnstile/central"})
            add_plan_by(roster, p2p, plan, "combination", "auto");
    std::vector<std::string> plans;
    for (const Algorithm& algorithm : catalogue())
        if (!algorithm.has_roles() && algorithm.runs_everywhere()) plans.emplace_back(algorithm.name);
    plans.insert(plans.end(), {"combining:2", "mcs:2,2", "dissemination:2", "dissemination:3"});
    for (const std::string& plan : plans) {
        add_plan_by(roster, p2p, plan, "plan", "auto");
        if (share) add_plan_by(roster, p2p, plan, "plan", messages);
    }
    return roster;
}

Add mpi_plans(Rank ranks, const std::shared_ptr<PointToPoint>& p2p) {
    return [=](Roster& roster, const std::string& spelling, const std::string& wait) {
        if (wait != "auto" && wait != messages) return false;
        try {
            make_plan(spelling, ranks);
        } catch (const std::invalid_argument&) {
            return false;  // select() says what there is
        }
        add_plan_by(roster, p2p, spelling, "plan", wait);
        return true;
    };
}

}  // namespace tollbar::bench
