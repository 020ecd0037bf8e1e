/* SPDX-License-Identifier: Apache-2.0
 * A communicator may be freed while its barriers are pending; they still end, and well.
 *
 * usage: freed_pending PAGE PLANS... */
#include "toll.h"

enum { cycles = 12, each = 3 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    for (int i = 2; i < argc; ++i)
        for (int cycle = 0; cycle < cycles; ++cycle) {
            toll_plan(argv[i]);
            MPI_Comm comm;
            MPI_Request requests[each];
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            struct toll toll = toll_open(comm, (i - 2) * cycles + cycle);
            const int before = cycle % 2; /* some doors set up in the first blocking barrier */
            if (before) toll_barrier(&toll, -1);
            for (int j = 0; j < each; ++j) {
                toll_pay_turn(&toll, cycle / 2 % (toll_world + 1));
                MPI_Ibarrier(comm, &requests[j]);
            }
            MPI_Comm_free(&comm);
            for (int j = each - 1; j >= 0; --j) {
                MPI_Wait(&requests[j], MPI_STATUS_IGNORE);
                toll_check_episode(&toll, before + j + 1);
            }
        }
    return toll_end();
}
