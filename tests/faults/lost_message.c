/* SPDX-License-Identifier: Apache-2.0
 * The message is lost below the preload: the MPI gives an error when asked for it, or refuses to receive it. */
#include "losing.h"

#include <dlfcn.h>

static MPI_Request awaited; /* what receives from the late rank */

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int PMPI_Recv_init(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
    const int code = NEXT(PMPI_Recv_init)(data, count, type, source, tag, comm, request);
    if (source == late && count == 0) awaited = *request;
    return code;
}

int PMPI_Start(MPI_Request* request) {
    if (!armed || *request != awaited || strcmp(fault, "start") != 0) return NEXT(PMPI_Start)(request);
    armed = 0;
    return MPI_ERR_INTERN;
}

/* The receive is over and has received nothing. */
int PMPI_Test(MPI_Request* request, int* over, MPI_Status* status) {
    if (!armed || *request != awaited || strcmp(fault, "test") != 0) return NEXT(PMPI_Test)(request, over, status);
    armed = 0;
    PMPI_Cancel(request);
    PMPI_Wait(request, MPI_STATUS_IGNORE);
    *over = 0;
    return MPI_ERR_INTERN;
}

static void prepare(void) {}

int main(int argc, char** argv) {
    (void)argc;
    return lose(argv, prepare, MPI_Barrier);
}
