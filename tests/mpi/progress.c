/* SPDX-License-Identifier: Apache-2.0
 * A rank that waits at a barrier still serves others who need it before they can come: large messages it has begun to
 * send, its windows, other collectives.
 *
 * usage: progress PAGE PLANS... */
#include "toll.h"

enum { words = 1 << 18, tag = 9 };

static int mine[words], theirs[words];

static void fill(int value) {
    for (int i = 0; i < words; ++i) mine[i] = value + i, theirs[i] = -1;
}

/* 1 MB that its receiver takes before it enters. */
static void pending_sends(struct toll* toll) {
    const int right = (toll->rank + 1) % toll->ranks, left = (toll->rank + toll->ranks - 1) % toll->ranks;
    MPI_Request send;
    fill(toll->rank);
    MPI_Isend(mine, words, MPI_INT, right, tag, toll->comm, &send);
    if (toll->rank != 0) MPI_Recv(theirs, words, MPI_INT, left, tag, toll->comm, MPI_STATUS_IGNORE);
    toll_barrier(toll, -1);
    if (toll->rank == 0) MPI_Recv(theirs, words, MPI_INT, left, tag, toll->comm, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    toll_expect(theirs[0] == left && theirs[words - 1] == left + words - 1);
}

/* One rank works on the windows of those who are in the barrier already. */
static void windows(struct toll* toll) {
    MPI_Win window;
    const int worker = toll->ranks - 1;
    fill(toll->rank);
    MPI_Win_create(mine, sizeof mine, sizeof(int), MPI_INFO_NULL, toll->comm, &window);
    if (toll->rank != worker) {
        toll_barrier(toll, -1);
    } else {
        for (int rank = 0; rank < toll->ranks; ++rank) {
            const int one = 1;
            int before = -1;
            if (rank != worker) toll_await_entry(toll->board, rank, toll->episode + 1);
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
            MPI_Get(theirs, words, MPI_INT, rank, 0, words, MPI_INT, window);
            MPI_Fetch_and_op(&one, &before, MPI_INT, rank, words - 1, MPI_SUM, window);
            MPI_Win_unlock(rank, window);
            toll_expect(theirs[0] == rank && before == rank + words - 1);
        }
        toll_barrier(toll, -1);
    }
    MPI_Win_free(&window);
    toll_expect(mine[words - 1] == toll->rank + words);
}

/* A sum that some must have before they enter. */
static void other_collectives(struct toll* toll) {
    MPI_Request request;
    int one = 1, sum = 0;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, toll->comm, &request);
    if (toll->rank % 2 == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
    toll_barrier(toll, -1);
    if (toll->rank % 2 == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    toll_expect(sum == toll->ranks);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    for (int i = 2; i < argc; ++i) {
        MPI_Comm comm;
        toll_plan(argv[i]);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        struct toll toll = toll_open(comm, i - 2);
        for (int round = 0; round < 3; ++round) {
            pending_sends(&toll);
            windows(&toll);
            other_collectives(&toll);
        }
        MPI_Comm_free(&comm);
    }
    return toll_end();
}
