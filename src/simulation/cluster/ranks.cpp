// SPDX-License-Identifier: Apache-2.0
// The ranks of a simulation are all threads of control of this process and run one at a time, so they may share plain
// variables for what is about the simulation and not in it.
#include "ranks.hpp"

#include "simulation/cluster/simulated_carrier.h"
#include "transports/mpi/course.hpp"

#include <smpi/smpi.h>

#include <ctime>
#include <string>

namespace tollbar::simulation {

namespace {

constexpr const char* job = "tollbar";

double cpu_now_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// What all ranks know of the run.
struct Run {
    const std::vector<Plan>& plans;
    double gap_s;
    const Watch& watch;
    simgrid::s4u::BarrierPtr everybody;  ///< takes no simulated time
    std::size_t plan = 0;
    std::uint64_t steps_done = 0;
    std::size_t ranks_left = 0;
    Outcome outcome;
    double begun_cpu_s = 0;
};

Run* current = nullptr;  // the carrier's functions have no room for it

/// A carrier that counts the messages it starts to send or receive.
struct Counting {
    tollbar_carrier inner;

    tollbar_carrier carrier() const {
        tollbar_carrier outer = inner;
        real_start = inner.start;
        outer.start = [](void* state, tollbar_channel* channel) {
            current->watch.stepped(current->plan, ++current->steps_done);
            return real_start(state, channel);
        };
        return outer;
    }

    static inline decltype(tollbar_carrier::start) real_start = nullptr;  // the same for every rank
};

std::vector<CourseStep> steps_of(const Program& program, const tollbar_carrier& carrier) {
    std::vector<CourseStep> steps;
    steps.reserve(program.size());
    for (const Step step : program) {
        const bool sends = is_signal(step);
        tollbar_channel* channel = sends ? carrier.open_to(carrier.state, step.peer)
                                         : carrier.open_from(carrier.state, step.peer);
        if (channel == nullptr) throw std::bad_alloc();
        steps.push_back({.by = CourseStep::By::message, .wired = {}, .channel = channel, .sends = sends});
    }
    return steps;
}

/// The first rank that enters a plan makes room for it, the last one that leaves hands it over.
void enter(Run& run, std::size_t plan, std::size_t ranks) {
    if (run.ranks_left != 0) return;
    run.plan = plan;
    run.steps_done = 0;
    run.ranks_left = ranks;
    run.outcome.left_s.assign(ranks, 0);
    run.begun_cpu_s = cpu_now_s();
}

void leave(Run& run, Rank rank, double spent_s) {
    run.outcome.left_s[rank] = spent_s;
    if (--run.ranks_left != 0) return;
    run.outcome.cpu_s = cpu_now_s() - run.begun_cpu_s;
    run.watch.finished(run.plan, run.outcome);
}

void behave(Run& run, Rank rank) {
    MPI_Init(nullptr, nullptr);
    tollbar_carrier simulated;
    if (tollbar_simulated_carrier_open(MPI_COMM_WORLD, TOLLBAR_SIMULATED_EXACT, run.gap_s, &simulated) != MPI_SUCCESS)
        throw std::bad_alloc();
    const tollbar_carrier carrier = Counting{simulated}.carrier();
    for (std::size_t plan = 0; plan < run.plans.size(); ++plan) {
        enter(run, plan, run.plans[plan].ranks());
        {
            Course course(carrier, steps_of(run.plans[plan].program(rank), carrier), {.policy = wait_policy::spin});
            run.everybody->wait();
            const double entered_s = simgrid::s4u::Engine::get_clock();
            course.start();
            course.finish(Never{});
            leave(run, rank, simgrid::s4u::Engine::get_clock() - entered_s);
        }
        run.everybody->wait();
        simgrid::s4u::this_actor::sleep_for(run.gap_s);  // until no port is shut by what was before
    }
    tollbar_simulated_carrier_close(&simulated);
    MPI_Finalize();
}

}  // namespace

void run_all(const std::vector<Plan>& plans, const Hosts& hosts, double gap_s, const Watch& watch) {
    const auto ranks = static_cast<unsigned>(hosts.size());
    Run run{.plans = plans,
            .gap_s = gap_s,
            .watch = watch,
            .everybody = simgrid::s4u::Barrier::create(ranks),
            .outcome = {}};
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

}  // namespace tollbar::simulation
