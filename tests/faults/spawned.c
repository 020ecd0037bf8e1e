/* SPDX-License-Identifier: Apache-2.0
 * Ranks that were spawned have barriers with those that spawned them, also where the launcher does not hand the preload
 * on, and barriers of their own.
 *
 * usage: spawned PAGE; children: spawned PAGE child */
#include "toll.h"

enum { children = 2, rounds = 6, board_of_all = 1, board_of_parents = 2, board_of_children = 3 };

static void use(MPI_Comm comm, int board) {
    struct toll toll = toll_open(comm, board);
    for (int round = 0; round < rounds; ++round) {
        MPI_Request request;
        toll_barrier(&toll, round % toll.ranks);
        toll_pay_turn(&toll, round % toll.ranks);
        MPI_Ibarrier(comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        toll_check(&toll);
    }
}

int main(int argc, char** argv) {
    MPI_Comm others, all;
    MPI_Init(&argc, &argv);
    toll_start(argv);
    const int child = argc > 2;
    if (child) {
        MPI_Comm_get_parent(&others);
    } else {
        char* arguments[] = {argv[1], "child", NULL};
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (MPI_Comm_spawn(argv[0], arguments, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others,
                           MPI_ERRCODES_IGNORE) != MPI_SUCCESS) {
            if (toll_rank == 0) puts("skipped: this MPI spawns nothing here");
            MPI_Finalize();
            return 0;
        }
    }
    use(MPI_COMM_WORLD, child ? board_of_children : board_of_parents);
    MPI_Intercomm_merge(others, child, &all);
    use(all, board_of_all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&others);
    return toll_end();
}
