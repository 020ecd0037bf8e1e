/* SPDX-License-Identifier: Apache-2.0
 * A message that a rank waits for is lost: the MPI gives an error when asked for it, or refuses to receive it. Whoever
 * sends it enters the barrier only when the waiting rank has left, which must be with an error. */
#include "apart.h"

#include <dlfcn.h>

enum { late = 1, waiting = 2 };

static const char* fault;
static int armed;
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

int main(int argc, char** argv) {
    (void)argc;
    MPI_Comm comm;
    int code_class = 0;
    MPI_Init(NULL, NULL);
    toll_start(argv);
    fault = argv[2];
    apart = 1;
    toll_plan("dissemination");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    struct toll toll = toll_open(comm, 0);
    toll_barrier(&toll, -1);
    toll_meet();
    toll_pay(&toll);
    if (toll_rank == late) toll_await(&toll_page->tell, 1);
    armed = toll_rank == waiting;
    const int code = MPI_Barrier(comm);
    if (toll_rank == waiting) {
        if (code != MPI_SUCCESS) MPI_Error_class(code, &code_class);
        printf("left with class %d of %d\n", code_class, MPI_ERR_INTERN);
        fflush(stdout);
        atomic_store(&toll_page->tell, 1);
    }
    toll_await(&toll_page->told, 1);
    return 0;
}
