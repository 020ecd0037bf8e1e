/* SPDX-License-Identifier: Apache-2.0
 * A communicator is freed while its MPI_Ibarriers pend, every second one before its ranks have met; one rank is late,
 * and they are waited for in reverse.
 *
 * usage: freed PAGE [apart] */
#include "../../faults/apart.h"

enum { cycles = 30, each = 3 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    apart = argc > 2;
    for (int cycle = 0; cycle < cycles; ++cycle) {
        MPI_Comm comm;
        MPI_Request request[each];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        struct toll toll = toll_open(comm, cycle);
        const int met = cycle % 2;
        if (met) toll_barrier(&toll, toll_world);
        for (int i = 0; i < each; ++i) {
            toll_pay_turn(&toll, cycle % (toll_world + 1));
            MPI_Ibarrier(comm, &request[i]);
        }
        MPI_Comm_free(&comm);
        for (int i = each - 1; i >= 0; --i) {
            MPI_Wait(&request[i], MPI_STATUS_IGNORE);
            toll_check_episode(&toll, met + i + 1);
        }
    }
    return toll_end();
}
