/* SPDX-License-Identifier: Apache-2.0
 * Threads of a rank are at barriers at the same time, each at its own communicator's.
 *
 * usage: threads PAGE PLANS... */
#include "toll.h"

#include <pthread.h>

enum { threads = 4, rounds = 24 };

static void* run(void* toll_of_thread) {
    struct toll* toll = toll_of_thread;
    for (int round = 0; round < rounds; ++round) {
        const int late = round % (toll->ranks + 1);
        if (round % 3 != 2) {
            toll_barrier(toll, late);
        } else {
            MPI_Request request;
            toll_pay_turn(toll, late);
            MPI_Ibarrier(toll->comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            toll_check(toll);
        }
    }
    return NULL;
}

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    toll_start(argv);
    if (provided != MPI_THREAD_MULTIPLE) {
        if (toll_rank == 0) printf("skipped: this MPI has no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 0;
    }
    for (int i = 2; i < argc; ++i) {
        struct toll toll[threads];
        pthread_t thread[threads];
        toll_plan(argv[i]);
        for (int j = 0; j < threads; ++j) {
            MPI_Comm comm;
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            toll[j] = toll_open(comm, (i - 2) * threads + j);
        }
        for (int j = 0; j < threads; ++j) pthread_create(&thread[j], NULL, run, &toll[j]);
        for (int j = 0; j < threads; ++j) pthread_join(thread[j], NULL);
        for (int j = 0; j < threads; ++j) MPI_Comm_free(&toll[j].comm);
    }
    return toll_end();
}
