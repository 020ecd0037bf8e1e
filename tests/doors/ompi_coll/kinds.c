/* SPDX-License-Identifier: Apache-2.0
 * Every kind of barrier that Open MPI has, each a known number of times, with one rank late in turn.
 *
 * usage: kinds PAGE [apart] */
#include "../../faults/apart.h"

#include <mpi-ext.h>

enum { times = 7 };

static void wait_for(struct toll* toll, MPI_Request* request) {
    MPI_Wait(request, MPI_STATUS_IGNORE);
    toll_check(toll);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    apart = argc > 2;
    struct toll toll = toll_open(MPI_COMM_WORLD, 0);
    MPI_Request request;

    for (int i = 0; i < times; ++i) { /* before the ranks have met */
        toll_pay_turn(&toll, i % toll_world);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        wait_for(&toll, &request);
    }
    for (int i = 0; i < times; ++i) toll_barrier(&toll, i % toll_world);
    for (int i = 0; i < times; ++i) {
        toll_pay_turn(&toll, i % toll_world);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        wait_for(&toll, &request);
    }
    MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < times; ++i) {
        toll_pay_turn(&toll, i % toll_world);
        MPI_Start(&request);
        wait_for(&toll, &request);
    }
    MPI_Request_free(&request);

    /* The first barrier of a communicator may be a persistent one. */
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    toll = toll_open(comm, 1);
    MPIX_Barrier_init(comm, MPI_INFO_NULL, &request);
    MPI_Comm_free(&comm);
    for (int i = 0; i < times; ++i) {
        toll_pay_turn(&toll, i % toll_world);
        MPI_Start(&request);
        wait_for(&toll, &request);
    }
    MPI_Request_free(&request);
    return toll_end();
}
