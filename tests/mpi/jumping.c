/* SPDX-License-Identifier: Apache-2.0
 * Every rank's error handler jumps out of calls of the MPI, before it meets the others from more and from less deep in
 * its stack. Rank 2 stays away from the last barrier until the test's script tells it to go on.
 *
 * usage: jumping PAGE */
#include "toll.h"

#include <setjmp.h>

enum { odd = 2, none = -5 };

static jmp_buf before;

static void jump(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
    longjmp(before, 1);
}

static __attribute__((noinline)) int fail(int depth) {
    volatile int room[16] = {depth};
    if (depth > 0) return fail(depth - 1) + room[0];
    return MPI_Send((const void*)room, 1, MPI_INT, none, 0, MPI_COMM_WORLD);
}

static __attribute__((noinline)) int meet(int depth) {
    volatile int room[16] = {depth};
    if (depth > 0) return meet(depth - 1) + room[0];
    return MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    toll_start(argv);
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    static int from = 0, to = 0;
    for (from = 0; from < 4; ++from)
        for (to = 0; to < 4; ++to) {
            if (setjmp(before) == 0) fail(2 * from);
            meet(2 * to);
        }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (toll_rank == odd) {
        atomic_store(&toll_page->tell, 1);
        toll_await(&toll_page->told, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return toll_end();
}
