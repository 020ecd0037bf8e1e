/* SPDX-License-Identifier: Apache-2.0
 * A communicator of a session has barriers before MPI_Init, between it and MPI_Finalize, and after that.
 *
 * usage: sessions PAGE */
#include "toll.h"

#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 5
int main(void) {
    puts("skipped: this MPI has no sessions");
    return 0;
}
#else

enum { rounds = 6, board_of_session = 1 };

static void use(struct toll* toll) {
    for (int round = 0; round < rounds; ++round) {
        MPI_Request request;
        toll_barrier(toll, round % toll->ranks);
        toll_pay_turn(toll, round % toll->ranks);
        MPI_Ibarrier(toll->comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        toll_check(toll);
    }
}

static void use_handle(struct toll* toll) {
    MPI_Request request;
    MPI_Barrier_init(toll->comm, MPI_INFO_NULL, &request);
    for (int round = 0; round < rounds; ++round) {
        toll_pay_turn(toll, round % toll->ranks);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        toll_check(toll);
    }
    MPI_Request_free(&request);
}

int main(int argc, char** argv) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "tollbar", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    MPI_Barrier(comm);

    MPI_Init(&argc, &argv);
    toll_start(argv);
    struct toll world = toll_open(MPI_COMM_WORLD, 0), of_session = toll_open(comm, board_of_session);
    use(&of_session);
    use(&world);
    use_handle(&of_session);
    MPI_Finalize();

    use(&of_session);
    use_handle(&of_session);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    if (toll_rank == 0) printf("passed: %ld checks\n", toll_checks);
    return 0;
}
#endif
