/* SPDX-License-Identifier: Apache-2.0
 * One rank alone gets no channel for its barrier's messages. All use the MPI's own barrier then. */
#include "apart.h"

#include <dlfcn.h>

enum { refused = 1 };

int PMPI_Recv_init(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
    if (apart && toll_rank == refused && count == 0) return MPI_ERR_NO_MEM;
    return ((__typeof__(&PMPI_Recv_init))dlsym(RTLD_NEXT, "PMPI_Recv_init"))(data, count, type, source, tag, comm,
                                                                             request);
}

int main(int argc, char** argv) {
    MPI_Init(NULL, NULL);
    toll_start(argv);
    apart = 1;
    for (int plan = 2; plan < argc; ++plan) {
        MPI_Comm comm;
        toll_plan(argv[plan]);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        struct toll toll = toll_open(comm, plan);
        for (int late = -1; late < toll_world; ++late) toll_barrier(&toll, late);
        MPI_Comm_free(&comm);
    }
    return toll_end();
}
