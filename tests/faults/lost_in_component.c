/* SPDX-License-Identifier: Apache-2.0
 * lost_message.c inside Open MPI, whose layer of messages it replaces: a send or a receive is refused, or over with an
 * error. */
#include "apart.h"

#include <ompi_config.h>

#include <ompi/mca/pml/pml.h>
#include <ompi/request/request.h>

enum { late = 1, waiting = 2 };

static const char* fault;
static int armed;
static mca_pml_base_module_isend_fn_t next_isend;
static mca_pml_base_module_irecv_fn_t next_irecv;

static int isend(const void* data, size_t count, struct ompi_datatype_t* type, int to, int tag,
                 mca_pml_base_send_mode_t mode, struct ompi_communicator_t* comm, ompi_request_t** request) {
    if (!armed || tag >= 0 || strcmp(fault, "send") != 0)
        return next_isend(data, count, type, to, tag, mode, comm, request);
    armed = 0;
    return MPI_ERR_INTERN;
}

static int irecv(void* data, size_t count, struct ompi_datatype_t* type, int from, int tag,
                 struct ompi_communicator_t* comm, ompi_request_t** request) {
    if (!armed || from != late || tag >= 0 || strcmp(fault, "send") == 0)
        return next_irecv(data, count, type, from, tag, comm, request);
    armed = 0;
    if (strcmp(fault, "receive") == 0) return MPI_ERR_INTERN;
    const int refused = next_irecv(data, count, type, from, tag, comm, request);
    ompi_request_cancel(*request);
    (*request)->req_status.MPI_ERROR = MPI_ERR_INTERN;
    return refused;
}

static int barrier(MPI_Comm comm, const char* call) {
    MPI_Request request;
    if (strcmp(call, "barrier") == 0) return MPI_Barrier(comm);
    const int refused = MPI_Ibarrier(comm, &request);
    return refused == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : refused;
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
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* a request's errors go there in Open MPI 4 */
    struct toll toll = toll_open(comm, 0);
    toll_barrier(&toll, -1);
    toll_meet();
    next_isend = mca_pml.pml_isend;
    next_irecv = mca_pml.pml_irecv;
    mca_pml.pml_isend = isend;
    mca_pml.pml_irecv = irecv;
    toll_pay(&toll);
    if (toll_rank == late) toll_await(&toll_page->tell, 1);
    armed = toll_rank == waiting;
    const int code = barrier(comm, argv[3]);
    if (toll_rank == waiting) {
        if (code != MPI_SUCCESS) MPI_Error_class(code, &code_class);
        printf("left with class %d of %d\n", code_class, MPI_ERR_INTERN);
        fflush(stdout);
        atomic_store(&toll_page->tell, 1);
    }
    toll_await(&toll_page->told, 1);
    return 0;
}
