/* SPDX-License-Identifier: Apache-2.0
 * Many barriers of one communicator and of others are under way at a time, and are completed in any order; blocking
 * ones run above pending ones.
 *
 * usage: in_flight PAGE PLANS... */
#include "toll.h"

enum { each = 8, comms = 3, many = each * comms };

struct flight {
    struct toll toll[comms];
    MPI_Request requests[many];
    const struct toll* of[many];
    int episodes[many];
};

/* Starts them all; one rank only when the others have started theirs. */
static void depart(struct flight* flight, int late) {
    for (int i = 0; i < many; ++i) {
        struct toll* toll = &flight->toll[i % comms];
        toll_pay_turn(toll, late);
        flight->of[i] = toll;
        flight->episodes[i] = toll->episode;
        MPI_Ibarrier(toll->comm, &flight->requests[i]);
        int over = 0;
        MPI_Test(&flight->requests[i / 2], &over, MPI_STATUS_IGNORE);
        if (over) toll_check_episode(flight->of[i / 2], flight->episodes[i / 2]);
    }
}

static void landed(const struct flight* flight, int i) { toll_check_episode(flight->of[i], flight->episodes[i]); }

static void complete_backwards(struct flight* flight) {
    for (int i = many - 1; i >= 0; --i) {
        MPI_Wait(&flight->requests[i], MPI_STATUS_IGNORE);
        landed(flight, i);
    }
}

static void complete_any(struct flight* flight) {
    for (;;) {
        int i = 0;
        MPI_Waitany(many, flight->requests, &i, MPI_STATUS_IGNORE);
        if (i == MPI_UNDEFINED) return;
        landed(flight, i);
    }
}

static void complete_some(struct flight* flight) {
    int count = 0, done[many];
    MPI_Status statuses[many];
    do {
        MPI_Testsome(many, flight->requests, &count, done, statuses);
        for (int i = 0; count != MPI_UNDEFINED && i < count; ++i) landed(flight, done[i]);
    } while (count != MPI_UNDEFINED);
}

static void complete_all(struct flight* flight) {
    int over = 0;
    MPI_Status statuses[many];
    MPI_Testall(many, flight->requests, &over, statuses);
    if (!over) MPI_Waitall(many, flight->requests, statuses);
    for (int i = 0; i < many; ++i) landed(flight, i);
}

/* Blocking barriers above pending ones of the same communicator and of another. */
static void complete_under_barriers(struct flight* flight) {
    for (int comm = 0; comm < comms; ++comm) toll_barrier(&flight->toll[comm], comm % flight->toll[comm].ranks);
    complete_backwards(flight);
}

int main(int argc, char** argv) {
    static void (*const complete[])(struct flight*) = {complete_backwards, complete_any, complete_some, complete_all};
    enum { ways = sizeof complete / sizeof complete[0] };
    MPI_Init(&argc, &argv);
    toll_start(argv);
    for (int i = 2; i < argc; ++i)
        for (int known = 0; known < 2; ++known) { /* some doors set up in the first blocking barrier */
            static struct flight flight;
            toll_plan(argv[i]);
            for (int j = 0; j < comms; ++j) {
                MPI_Comm comm;
                MPI_Comm_dup(MPI_COMM_WORLD, &comm);
                flight.toll[j] = toll_open(comm, ((i - 2) * 2 + known) * comms + j);
                if (known) toll_barrier(&flight.toll[j], -1);
            }
            for (int turn = 0; turn < 2 * ways; ++turn) {
                depart(&flight, turn % (toll_world + 1));
                complete[(turn + toll_rank) % ways](&flight); /* each rank in another way */
            }
            depart(&flight, 0);
            complete_under_barriers(&flight);
            for (int j = 0; j < comms; ++j) MPI_Comm_free(&flight.toll[j].comm);
        }
    return toll_end();
}
