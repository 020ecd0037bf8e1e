// SPDX-License-Identifier: Apache-2.0
// Runs one episode of each plan on the simulated cluster and prints when, counted from the common entry, the last and
// the first rank left: one line "plan last_us first_us" each.
//
// usage: prices PLAN...
#include "communicator/participant.h"
#include "models/cluster/simulated_p2p.h"

#include <simgrid/actor.h>

#include <cstdio>

namespace {

/// A moment that all ranks reach together.
double common_entry() {
    const double now = MPI_Wtime();
    double latest = 0;
    MPI_Allreduce(&now, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const double entry = latest + 1;
    sg_actor_sleep_for(entry - MPI_Wtime());
    return entry;
}

void measure(const char* plan, int rank) {
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    tollbar_p2p p2p;
    tollbar_simulated_p2p_open(own, TOLLBAR_SIMULATED_EXACT, 0, &p2p);
    tollbar_mpi_options options{};
    options.plan = plan;
    options.sharing = TOLLBAR_SHARING_NEVER;
    tollbar_mpi_participant* participant = nullptr;
    if (tollbar_mpi_join(&p2p, &options, &participant) != 0) MPI_Abort(MPI_COMM_WORLD, 1);

    const double entry = common_entry();
    tollbar_mpi_arrive_and_wait(participant, nullptr);
    const double spent = MPI_Wtime() - entry;

    double last = 0;
    double first = 0;
    MPI_Reduce(&spent, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&spent, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%s %.4f %.4f\n", tollbar_mpi_plan(participant), last * 1e6, first * 1e6);
    tollbar_mpi_leave(participant);
    tollbar_simulated_p2p_close(&p2p);
    MPI_Comm_free(&own);
}

}  // namespace

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int argument = 1; argument < argc; ++argument) measure(argv[argument], rank);
    MPI_Finalize();
    return 0;
}
