/* SPDX-License-Identifier: Apache-2.0
 * One thread of rank 0 is inside MPI_Barrier while another waits for an MPI_Ibarrier started before on the same
 * communicator; the others come to the barrier only when told that this wait is over.
 *
 * usage: two_threads PAGE */
#include "../../mpi/toll.h"

#include <pthread.h>

enum { rounds = 50 };

static MPI_Request pending;

static void* wait_and_tell(void* nothing) {
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    for (int rank = 1; rank < toll_world; ++rank) MPI_Send(NULL, 0, MPI_INT, rank, 0, MPI_COMM_WORLD);
    return nothing;
}

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    toll_start(argv);
    toll_expect(level == MPI_THREAD_MULTIPLE);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    struct toll toll = toll_open(comm, 0);
    for (int round = 0; round < rounds; ++round) {
        toll_pay(&toll);
        MPI_Ibarrier(comm, &pending);
        pthread_t waiter;
        if (toll_rank == 0) {
            pthread_create(&waiter, NULL, wait_and_tell, NULL);
        } else {
            MPI_Wait(&pending, MPI_STATUS_IGNORE);
            toll_check(&toll);
            MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        toll_barrier(&toll, toll_world);
        if (toll_rank == 0) pthread_join(waiter, NULL);
    }
    MPI_Comm_free(&comm);
    return toll_end();
}
