/* SPDX-License-Identifier: Apache-2.0
 * MPI_Ibarrier waits for nobody, whether the ranks of its communicator have met or not: what the others need to come
 * is done after it. Then the communicators' first MPI_Barrier, under those that pend.
 *
 * usage: local PAGE */
#include "../../mpi/toll.h"

enum { comms = 4, each = 5 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    MPI_Comm comm[comms];
    struct toll toll[comms];
    MPI_Request request[comms * each];
    for (int i = 0; i < comms; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        toll[i] = toll_open(comm[i], i);
    }
    for (int round = 0; round < 2; ++round) { /* the second time the ranks have met */
        /* Odd ranks take the communicators the other way round; each rank lets the next one begin. */
        if (toll_rank > 0) MPI_Recv(NULL, 0, MPI_INT, toll_rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < comms; ++i) {
            const int which = toll_rank % 2 ? comms - 1 - i : i;
            for (int j = 0; j < each; ++j) {
                toll_pay(&toll[which]);
                MPI_Ibarrier(comm[which], &request[which * each + j]);
            }
        }
        if (toll_rank + 1 < toll_world) MPI_Send(NULL, 0, MPI_INT, toll_rank + 1, 0, MPI_COMM_WORLD);
        toll_pay(&toll[0]);
        MPI_Barrier(comm[0]);
        toll_check(&toll[0]);
        for (int i = comms - 1; i >= 0; --i) {
            MPI_Waitall(each, &request[i * each], MPI_STATUSES_IGNORE);
            toll_check(&toll[i]);
            toll_barrier(&toll[i], round);
        }
    }
    for (int i = 0; i < comms; ++i) MPI_Comm_free(&comm[i]);
    return toll_end();
}
