/* SPDX-License-Identifier: Apache-2.0
 * A communicator is freed while persistent barriers of it are under way, whoever does them; they still end, and well.
 *
 * usage: freed_started PAGE PLANS... */
#include "toll.h"

#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 5
#    include <mpi-ext.h>
#    define MPI_Barrier_init MPIX_Barrier_init
#endif

enum { cycles = 30, each = 3 };

int main(int argc, char** argv) {
    int board = 0;
    MPI_Init(&argc, &argv);
    toll_start(argv);
    for (int i = 2; i < argc; ++i)
        for (int cycle = 0; cycle < cycles; ++cycle) {
            MPI_Comm comm;
            MPI_Request requests[each];
            struct toll toll[each];
            toll_plan(argv[i]);
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            if (cycle % 2) MPI_Barrier(comm);
            for (int j = 0; j < each; ++j) {
                toll[j] = toll_open(comm, board++);
                MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[j]);
            }
            for (int j = 0; j < each; ++j) {
                toll_pay_turn(&toll[j], cycle % toll_world);
                MPI_Start(&requests[j]);
            }
            if (cycle % 3 == 0) { /* one that is not started, and one that is free already */
                MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
                toll_check(&toll[0]);
                if (cycle % 2) MPI_Request_free(&requests[0]);
            }
            MPI_Comm_free(&comm);
            for (int j = each - 1; j >= (cycle % 3 == 0); --j) {
                MPI_Wait(&requests[j], MPI_STATUS_IGNORE);
                toll_check(&toll[j]);
            }
            for (int j = 0; j < each; ++j)
                if (requests[j] != MPI_REQUEST_NULL) MPI_Request_free(&requests[j]);
        }
    return toll_end();
}
