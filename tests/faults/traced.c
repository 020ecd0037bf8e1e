/* SPDX-License-Identifier: Apache-2.0
 * Calls that tollbar does, and the same ones where it leaves them to the MPI. Says how many there were of each.
 *
 * usage: traced PAGE */
#include "toll.h"

enum { rounds = 4 };

static void use(struct toll* toll) {
    MPI_Request requests[3];
    int word = 0, heard = 0;
    for (int round = 0; round < rounds; ++round) {
        toll_barrier(toll, round % toll->ranks);
        toll_pay_turn(toll, round % toll->ranks);
        MPI_Ibarrier(toll->comm, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        toll_check(toll);
    }
    MPI_Recv_init(&heard, 1, MPI_INT, toll->rank, 1, toll->comm, &requests[1]);
    for (int round = 0; round < rounds; ++round) {
        MPI_Start(&requests[1]);
        MPI_Send(&word, 1, MPI_INT, toll->rank, 1, toll->comm);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests[1]);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    struct toll world = toll_open(MPI_COMM_WORLD, 0), alone = toll_open(MPI_COMM_SELF, 1 + toll_rank);
    use(&world);
    use(&alone);
    return toll_end();
}
