/* SPDX-License-Identifier: Apache-2.0
 * The message is lost inside Open MPI, whose layer of messages this replaces: a send or a receive is refused, or over
 * with an error. */
#include "losing.h"

#include <ompi_config.h>

#include <ompi/mca/pml/pml.h>
#include <ompi/request/request.h>

static const char* call;
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

static void prepare(void) {
    next_isend = mca_pml.pml_isend;
    next_irecv = mca_pml.pml_irecv;
    mca_pml.pml_isend = isend;
    mca_pml.pml_irecv = irecv;
}

static int enter(MPI_Comm comm) {
    MPI_Request request;
    if (strcmp(call, "barrier") == 0) return MPI_Barrier(comm);
    const int refused = MPI_Ibarrier(comm, &request);
    return refused == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : refused;
}

int main(int argc, char** argv) {
    (void)argc;
    call = argv[3];
    return lose(argv, prepare, enter);
}
