/* SPDX-License-Identifier: Apache-2.0
 * Two persistent barriers of one communicator that each rank starts in another order. A rank that has started only
 * one of them keeps the others in that one alone (MPI-4.0, 6.13).
 *
 * usage: started_apart PAGE PLAN */
#include "toll.h"

#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 5
#    include <mpi-ext.h>
#    define MPI_Barrier_init MPIX_Barrier_init
#endif

int main(int argc, char** argv) {
    (void)argc;
    MPI_Request request[2];
    struct toll toll[2];
    MPI_Init(NULL, NULL);
    toll_start(argv);
    toll_plan(argv[2]);
    for (int i = 0; i < 2; ++i) {
        toll[i] = toll_open(MPI_COMM_WORLD, i);
        toll_expect(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request[i]) == MPI_SUCCESS);
    }
    for (int round = 0; round < 20; ++round) {
        const int first = (toll_rank + round) % 2;
        toll_pay(&toll[first]);
        MPI_Start(&request[first]);
        toll_pay_turn(&toll[!first], round % toll_world);
        MPI_Start(&request[!first]);
        for (int i = 0; i < 2; ++i) {
            MPI_Wait(&request[i], MPI_STATUS_IGNORE);
            toll_check(&toll[i]);
        }
    }
    for (int i = 0; i < 2; ++i) MPI_Request_free(&request[i]);
    return toll_end();
}
