// SPDX-License-Identifier: Apache-2.0
// The ranks of a simulation are all threads of control of this process and run one at a time, so they may share plain
// variables for what is about the simulation and not in it.
#include "ranks.hpp"

#include "simulated_p2p.h"

#include "plan/schedule.hpp"
#include "transports/mpi/messages.hpp"

#include <tollbar/detail/runner.hpp>

#include <smpi/smpi.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <iterator>
#include <string>
#include <utility>

namespace tollbar::models {

using namespace detail;

namespace {

constexpr const char* job = "tollbar";
constexpr std::atomic<Occupancy> never_crowded{Occupancy::exclusive};

double cpu_now_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// The facts of the run that all ranks know.
struct Run {
    const std::vector<Plan>& plans;
    double gap_s;
    const Watch& watch;
    simgrid::s4u::BarrierPtr everybody;  ///< takes no simulated time
    std::size_t plan = 0;
    std::uint64_t steps_done = 0;
    std::size_t ranks_left = 0;
    EpisodeTimes times;
    double begun_cpu_s = 0;
};

Run* current = nullptr;  // the functions of p2p have no room for it

decltype(tollbar_p2p::start) start_uncounted = nullptr;  // the same for every rank

/// tollbar_p2p::start that counts the messages which begin to be sent or received.
int start_counted(void* state, tollbar_channel* channel) {
    current->watch.stepped(current->plan, ++current->steps_done);
    return start_uncounted(state, channel);
}

/// The first rank that enters a plan makes room for it, the last one that leaves hands it over.
void enter(Run& run, std::size_t plan, std::size_t ranks) {
    if (run.ranks_left != 0) return;
    run.plan = plan;
    run.steps_done = 0;
    run.ranks_left = ranks;
    run.times.left_s.assign(ranks, 0);
    run.begun_cpu_s = cpu_now_s();
}

void leave(Run& run, Rank rank, double spent_s) {
    run.times.left_s[rank] = spent_s;
    if (--run.ranks_left != 0) return;
    run.times.cpu_s = cpu_now_s() - run.begun_cpu_s;
    run.watch.finished(run.plan, run.times);
}

void behave(Run& run, Rank rank) {
    MPI_Init(nullptr, nullptr);
    tollbar_p2p p2p;
    if (tollbar_simulated_p2p_open(MPI_COMM_WORLD, TOLLBAR_SIMULATED_EXACT, run.gap_s, &p2p) != MPI_SUCCESS)
        throw std::bad_alloc();
    start_uncounted = std::exchange(p2p.start, start_counted);
    for (std::size_t plan = 0; plan < run.plans.size(); ++plan) {
        enter(run, plan, run.plans[plan].ranks());
        {
            mpi::Messages messages(p2p, wait_policy::spin, never_crowded);
            const auto steps = messages.steps(run.plans[plan].program(rank));
            Runner<mpi::Messages> runner(steps.data(), static_cast<std::uint32_t>(steps.size()), 0,
                                         std::move(messages));
            run.everybody->wait();
            const double entered_s = simgrid::s4u::Engine::get_clock();
            runner.start();
            runner.finish(Never{});
            leave(run, rank, simgrid::s4u::Engine::get_clock() - entered_s);
        }
        run.everybody->wait();
        simgrid::s4u::this_actor::sleep_for(run.gap_s);  // until no port is shut by what was before
    }
    tollbar_simulated_p2p_close(&p2p);
    MPI_Finalize();
}

}  // namespace

void run_all(const std::vector<Plan>& plans, const Hosts& hosts, double gap_s, const Watch& watch) {
    const auto ranks = static_cast<unsigned>(hosts.size());
    std::vector<Plan> played;
    std::ranges::transform(plans, std::back_inserter(played), played_by_first);
    Run run{.plans = played,
            .gap_s = gap_s,
            .watch = watch,
            .everybody = simgrid::s4u::Barrier::create(ranks),
            .times = {}};
    current = &run;
    SMPI_app_instance_register(job, nullptr, static_cast<int>(ranks));
    for (Rank rank = 0; rank < ranks; ++rank) {
        const auto actor = simgrid::s4u::Actor::init("rank " + std::to_string(rank), hosts[rank]);
        actor->set_property("instance_id", job);
        actor->set_property("rank", std::to_string(rank));
        actor->start([&run, rank] { behave(run, rank); });
    }
    simgrid::s4u::Engine::get_instance()->run();
    current = nullptr;
}

}  // namespace tollbar::models
