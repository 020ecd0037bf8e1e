/* SPDX-License-Identifier: Apache-2.0
 * What a program hangs on a communicator may make barriers of it when the communicator is freed, and what it hangs on
 * MPI_COMM_SELF when the program ends, whether it was hung there before the first barrier or after it.
 *
 * usage: freeing PAGE */
#include "toll.h"

enum { board_of_world = 1, board_of_first = 2 };

static int deleted;

static void use(struct toll* toll) {
    MPI_Request request;
    toll_barrier(toll, toll->ranks - 1);
    toll_pay_turn(toll, 0);
    MPI_Ibarrier(toll->comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    toll_check(toll);
}

/* `value` is the toll of a communicator. */
static int at_deletion(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    ++deleted;
    use(value);
    use(value);
    return MPI_SUCCESS;
}

static void hang_on(MPI_Comm comm, struct toll* toll) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_deletion, &key, NULL);
    MPI_Comm_set_attr(comm, key, toll);
    MPI_Comm_free_keyval(&key);
}

/* `uses` before the communicator is freed; where there are none, the first barrier is made while it is. */
static void free_one(int board, int uses, int (*by)(MPI_Comm*)) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    struct toll toll = toll_open(comm, board);
    const int before = deleted;
    if (toll_rank % 2 == 0) hang_on(comm, &toll);
    for (int i = 0; i < uses; ++i) use(&toll);
    if (toll_rank % 2 != 0) hang_on(comm, &toll);
    by(&comm);
    toll_expect(deleted == before + 1);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    struct toll world = toll_open(MPI_COMM_WORLD, board_of_world);
    if (toll_rank % 2 == 0) hang_on(MPI_COMM_SELF, &world);
    use(&world);
    if (toll_rank % 2 != 0) hang_on(MPI_COMM_SELF, &world);
    for (int uses = 2; uses >= 0; --uses) {
        free_one(board_of_first + 2 * uses, uses, MPI_Comm_free);
        free_one(board_of_first + 2 * uses + 1, uses, MPI_Comm_disconnect);
    }
    use(&world);
    return toll_end();
}
