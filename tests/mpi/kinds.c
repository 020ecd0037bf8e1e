/* SPDX-License-Identifier: Apache-2.0
 * Communicators of every make have barriers, and no communicator gets the MPI's own error. Attributes that a
 * program hangs on its communicators are copied for its own duplicates only.
 *
 * usage: kinds PAGE */
#include "toll.h"

static int next_board;
static int copies;

static void use(MPI_Comm comm) {
    struct toll toll = toll_open(comm, next_board++);
    for (int late = 0; late < toll.ranks; ++late) toll_barrier(&toll, late);
}

static void use_and_free(MPI_Comm comm) {
    use(comm);
    MPI_Comm_free(&comm);
}

/* Members of one half leave when all of the other have entered. (Open MPI 4.1.4's own MPI_Ibarrier lets them leave
 * earlier, and tollbar leaves intercommunicators to the MPI; so that one is only asked to end.) */
static void between_groups(void) {
    MPI_Comm half, between, merged;
    const int side = toll_rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 5, &between);
    struct toll toll = toll_open(MPI_COMM_WORLD, next_board++);
    for (int late = 0; late < toll_world; ++late) {
        MPI_Request request;
        MPI_Ibarrier(between, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        toll_pay_turn(&toll, late);
        MPI_Barrier(between);
        for (int rank = 1 - side; rank < toll_world; rank += 2)
            toll_expect(tollbar_toll_entered(toll.board->tolls, (unsigned)rank) >= (uint64_t)toll.episode);
        toll_meet(); /* the own half may be later, and then would not be waited for at the gate */
    }
    MPI_Intercomm_merge(between, side, &merged);
    use_and_free(merged);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

static int class_of(int error) {
    int class = 0;
    MPI_Error_class(error, &class);
    return class;
}

static void without_communicator(void) {
    MPI_Request request;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* where MPI 4 reports it */
    toll_expect(class_of(MPI_Barrier(MPI_COMM_NULL)) == MPI_ERR_COMM);
    toll_expect(class_of(MPI_Ibarrier(MPI_COMM_NULL, &request)) == MPI_ERR_COMM);
}

static void alone(void) {
    MPI_Request requests[2];
    MPI_Comm comm;
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Ibarrier(MPI_COMM_SELF, &requests[0]);
    MPI_Ibarrier(MPI_COMM_SELF, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    ++toll_checks;
}

static int count_copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    ++copies;
    *flag = 0;
    return MPI_SUCCESS;
}

static void with_attributes(void) {
    MPI_Comm base, first, second;
    int key = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(base, key, &key);
    use(base);
    toll_expect(copies == 0);
    MPI_Comm_dup(base, &first);
    use(first);
    MPI_Comm_dup(base, &second);
    use(second);
    use(base);
    toll_expect(copies == 2);
    MPI_Comm_free(&second);
    MPI_Comm_free(&first);
    MPI_Comm_free(&base);
    MPI_Comm_free_keyval(&key);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    MPI_Comm comm;
    MPI_Group group;
    use(MPI_COMM_WORLD);

    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use_and_free(comm);

    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    use_and_free(comm);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &comm);
    use_and_free(comm);
    MPI_Group_free(&group);

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    use_and_free(comm);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
    use_and_free(comm);

    const int ring = 1, weight = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &toll_world, &ring, 1, &comm);
    use_and_free(comm);
    const int left = (toll_rank + toll_world - 1) % toll_world, right = (toll_rank + 1) % toll_world;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &weight, 1, &right, &weight, MPI_INFO_NULL, 0, &comm);
    use_and_free(comm);

    between_groups();
    alone();
    with_attributes();
    without_communicator();
    return toll_end();
}
