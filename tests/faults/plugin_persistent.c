/* SPDX-License-Identifier: Apache-2.0
 * Persistent barriers, of tollbar's and of the MPI's, in a library that is opened at run time. */
#include "toll.h"

#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 5
#    include <mpi-ext.h>
#    define MPI_Barrier_init MPIX_Barrier_init
#endif

static void persistent(MPI_Comm comm, const char* plan) {
    MPI_Comm own;
    MPI_Request request;
    toll_plan(plan);
    MPI_Comm_dup(comm, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    toll_expect(MPI_Barrier_init(own, MPI_INFO_NULL, &request) == MPI_SUCCESS);
    for (int round = 0; round < 3; ++round) {
        toll_expect(MPI_Start(&request) == MPI_SUCCESS);
        toll_expect(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        toll_expect(MPI_Barrier(own) == MPI_SUCCESS);
    }
    toll_expect(MPI_Request_free(&request) == MPI_SUCCESS);
    MPI_Comm_free(&own);
}

int plugin_main(int argc, char** argv) {
    (void)argc;
    MPI_Init(NULL, NULL);
    toll_start(argv);
    persistent(MPI_COMM_SELF, "turnstile");
    persistent(MPI_COMM_WORLD, "turnstile");
    persistent(MPI_COMM_WORLD, "dissemination");
    return toll_end();
}
