/* SPDX-License-Identifier: Apache-2.0
 * Two threads of rank 0 are at barriers of one communicator at once, its first ones too. The standard forbids that, and
 * MPIs come through: the others make as many barriers as both threads together.
 *
 * usage: concurrent PAGE */
#include "toll.h"

#include <pthread.h>

enum { threads = 2, rounds = 200, communicators = 8 };

static void* run(void* of) {
    for (int round = 0; round < rounds; ++round) MPI_Barrier(*(MPI_Comm*)of);
    return NULL;
}

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    toll_start(argv);
    for (int i = 0; i < communicators && provided == MPI_THREAD_MULTIPLE; ++i) {
        MPI_Comm comm;
        pthread_t thread[threads];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int t = 0; t < threads; ++t)
            if (toll_rank == 0)
                pthread_create(&thread[t], NULL, run, &comm);
            else
                run(&comm);
        for (int t = 0; t < threads && toll_rank == 0; ++t) pthread_join(thread[t], NULL);
        MPI_Comm_free(&comm);
    }
    ++toll_checks;
    return toll_end();
}
