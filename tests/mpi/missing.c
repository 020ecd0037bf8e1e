/* SPDX-License-Identifier: Apache-2.0
 * One rank does not come to the fourth barrier of a communicator named "the solvers", until the test's script tells it
 * to; with "gone", never.
 *
 * usage: missing PAGE barrier|ibarrier stopped|loop|elsewhere|gone */
#include "toll.h"

#include <signal.h>

enum { absent = 2, before = 3 };

static void cross(struct toll* toll, int split_phase) {
    MPI_Request request;
    toll_pay(toll);
    if (split_phase) {
        MPI_Ibarrier(toll->comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(toll->comm);
    }
    toll_check(toll);
}

static void stay_away(const char* how, struct toll* pair) {
    atomic_store(&toll_page->tell, 1);
    if (strcmp(how, "stopped") == 0) raise(SIGSTOP);
    if (strcmp(how, "gone") == 0) raise(SIGKILL);
    if (strcmp(how, "elsewhere") == 0) toll_barrier(pair, -1);
    while (strcmp(how, "loop") == 0 && atomic_load(&toll_page->told) == 0) continue;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    const int split_phase = strcmp(argv[2], "ibarrier") == 0;
    /* The last rank is not among the solvers: the absent rank can be with it. */
    const int outside = toll_rank == toll_world - 1;
    MPI_Comm solvers, pair;
    MPI_Comm_split(MPI_COMM_WORLD, outside ? MPI_UNDEFINED : 0, 0, &solvers);
    MPI_Comm_split(MPI_COMM_WORLD, outside || toll_rank == absent ? 0 : MPI_UNDEFINED, 0, &pair);
    struct toll toll_of_pair, toll;
    if (pair != MPI_COMM_NULL) {
        MPI_Comm_set_name(pair, "the pair");
        toll_of_pair = toll_open(pair, 1);
        toll_barrier(&toll_of_pair, -1);
    }
    if (outside) {
        toll_await(&toll_page->told, 1);
        if (strcmp(argv[3], "elsewhere") == 0) toll_barrier(&toll_of_pair, -1);
    } else {
        MPI_Comm_set_name(solvers, "the solvers");
        toll = toll_open(solvers, 0);
        for (int i = 0; i < before; ++i) cross(&toll, split_phase && i > 0); /* the first barrier sets up */
        if (toll_rank == absent) {
            for (int rank = 0; rank < toll.ranks; ++rank) /* then they wait for nobody else */
                if (rank != absent) toll_await_entry(toll.board, rank, before + 1);
            stay_away(argv[3], &toll_of_pair);
        }
        cross(&toll, split_phase);
        cross(&toll, split_phase);
        MPI_Comm_free(&solvers);
    }
    if (pair != MPI_COMM_NULL) MPI_Comm_free(&pair);
    return toll_end();
}
