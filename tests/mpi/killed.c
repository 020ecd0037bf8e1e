/* SPDX-License-Identifier: Apache-2.0
 * A rank is killed while the others wait for it.
 *
 * usage: killed PAGE */
#include "toll.h"

#include <signal.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    struct toll toll = toll_open(MPI_COMM_WORLD, 0);
    for (int late = 0; late < toll.ranks; ++late) toll_barrier(&toll, late);
    if (toll.rank == toll.ranks - 1) {
        for (int rank = 0; rank < toll.rank; ++rank) toll_await_entry(toll.board, rank, toll.episode + 1);
        raise(SIGKILL);
    }
    toll_barrier(&toll, -1);
    return toll_end(); /* never */
}
