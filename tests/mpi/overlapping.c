/* SPDX-License-Identifier: Apache-2.0
 * Communicators that share ranks, lie within one another or have their ranks in another order do not disturb each
 * other's barriers; neither do ranks that are at different ones at a time.
 *
 * usage: overlapping PAGE PLANS... */
#include "toll.h"

enum { rounds = 10, kinds = 6 };

/* A communicator of some ranks, its toll on a board that goes by the kind and the colour. */
static struct toll toll_of(MPI_Comm of, int kind, int colour, int key, int board) {
    MPI_Comm comm;
    MPI_Comm_split(of, colour, key, &comm);
    return toll_open(comm, board + kind * 8 + colour);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    for (int i = 2; i < argc; ++i) {
        const int board = (i - 2) * kinds * 8, rank = toll_rank;
        toll_plan(argv[i]);
        struct toll all[kinds];
        all[0] = toll_of(MPI_COMM_WORLD, 0, 0, rank, board);
        all[1] = toll_of(MPI_COMM_WORLD, 1, rank / 2, rank, board);       /* neighbours */
        all[2] = toll_of(MPI_COMM_WORLD, 2, (rank + 1) / 2, rank, board); /* the other neighbours */
        all[3] = toll_of(MPI_COMM_WORLD, 3, 0, -rank, board);             /* backwards */
        all[4] = toll_of(MPI_COMM_WORLD, 4, rank % 2, rank, board);
        all[5] = toll_of(all[4].comm, 5, rank % 2, -rank, board); /* within the one before */
        for (int round = 0; round < rounds; ++round)
            for (int kind = 0; kind < kinds; ++kind) {
                struct toll* toll = &all[(kind * 5 + round) % kinds]; /* 5 and 6 have no divisor in common */
                toll_barrier(toll, round % toll->ranks);
            }
        /* Pairs go on by themselves while others are elsewhere. */
        for (int round = 0; round < rank / 2 * 6; ++round) toll_barrier(&all[1], -1);
        toll_barrier(&all[0], 0);
        for (int kind = kinds - 1; kind >= 0; --kind) MPI_Comm_free(&all[kind].comm);
    }
    return toll_end();
}
