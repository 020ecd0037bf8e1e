/* SPDX-License-Identifier: Apache-2.0
 * Nobody leaves before the last has entered, whoever that is.
 *
 * usage: late_rank PAGE SIZES PLANS...     SIZES: 1,2,3; "" as a PLAN leaves it to the environment */
#include "toll.h"

#ifdef OPEN_MPI
#    include <mpi-ext.h>
#endif

static void barriers(struct toll* toll) {
    for (int late = 0; late < toll->ranks; ++late) toll_barrier(toll, late);
}

static void split_phase_barriers(struct toll* toll) {
    for (int late = 0; late < toll->ranks; ++late) {
        MPI_Request request;
        int over = 0;
        toll_pay_turn(toll, late);
        MPI_Ibarrier(toll->comm, &request);
        for (int look = 0; look < 3 && !over; ++look) MPI_Test(&request, &over, MPI_STATUS_IGNORE);
        if (!over) MPI_Wait(&request, MPI_STATUS_IGNORE);
        toll_check(toll);
    }
}

static void persistent_barriers(struct toll* toll) {
    MPI_Request request;
#if MPI_VERSION >= 4
    MPI_Barrier_init(toll->comm, MPI_INFO_NULL, &request);
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
    MPIX_Barrier_init(toll->comm, MPI_INFO_NULL, &request);
#else
    return;
#endif
    for (int late = 0; late < toll->ranks; late += 3) {
        toll_pay_turn(toll, late);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        toll_check(toll);
    }
    MPI_Request_free(&request);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    int board = 0;
    for (char* sizes = argv[2]; sizes != NULL; sizes = strchr(sizes, ',') ? strchr(sizes, ',') + 1 : NULL) {
        const int ranks = atoi(sizes);
        if (ranks > toll_world) toll_fail("started with %d ranks, wanted %d", toll_world, ranks);
        MPI_Comm present;
        MPI_Comm_split(MPI_COMM_WORLD, toll_rank < ranks ? 0 : MPI_UNDEFINED, 0, &present);
        for (int i = 3; i < argc; ++i, ++board) {
            if (present == MPI_COMM_NULL) continue;
            toll_plan(argv[i]); /* by those who take part, so that all of them say the same */
            MPI_Comm comm;
            MPI_Comm_dup(present, &comm);
            struct toll toll = toll_open(comm, board);
            barriers(&toll);
            split_phase_barriers(&toll);
            persistent_barriers(&toll);
            MPI_Comm_free(&comm);
        }
        toll_meet();
        if (present != MPI_COMM_NULL) MPI_Comm_free(&present);
    }
    const int code = toll_end();
    /* Nobody ends before everybody has finalized: where many do at once beside load, Open MPI's launcher may see a
     * rank's end before its word that it has finalized, and fails then. */
    toll_meet();
    return code;
}
