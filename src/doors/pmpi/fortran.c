/* SPDX-License-Identifier: Apache-2.0
 * The calls that do not come by a C name from the Fortran of one MPI or another. The names that programs see are given
 * to these functions by the linker, see CMakeLists.txt. `error` may be NULL. */
#include "fortran.h"

#include "family.h"
#include "hooks.h"
#include "host_mpi.h"
#include "joining.h"
#include "pending.h"
#include "persistent.h"

#include <stdlib.h>

void tollbar_fortran_init(int* error);
void tollbar_fortran_init_f08(int* error);
void tollbar_fortran_init_thread(int* required, int* provided, int* error);
void tollbar_fortran_init_thread_f08(int* required, int* provided, int* error);
void tollbar_fortran_barrier(int* comm, int* error);
void tollbar_fortran_ibarrier(int* comm, int* request, int* error);
void tollbar_fortran_barrier_init(int* comm, int* info, int* request, int* error);
void tollbar_fortran_start(int* request, int* error);
void tollbar_fortran_startall(int* count, int* requests, int* error);
void tollbar_fortran_request_free(int* request, int* error);
void tollbar_fortran_wait(int* request, void* status, int* error);
void tollbar_fortran_waitall(int* count, int* requests, void* statuses, int* error);

int tollbar_go_on(struct tollbar_fortran* call, void* const arguments[6]) {
    if (call->next == NULL) call->next = (void (*)(void*, void*, void*, void*, void*, void*))tollbar_next(call->name);
    if (call->next == NULL) return 0;
    call->next(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
    return 1;
}

void tollbar_settle_all(int count, const int* requests) {
    for (int i = 0; i < count && tollbar_anything_pending(); ++i) tollbar_pending_settle(PMPI_Request_f2c(requests[i]));
}

static void set(int* error, int code) {
    if (error != NULL) *error = code;
}

/* A library in the wrong MPI speaks up from the start, one in the right one does what its C name does. */
static void init(struct tollbar_fortran* call, void* const arguments[6]) {
    tollbar_find_fit();
    if (tollbar_go_on(call, arguments)) tollbar_open_private_comm();
}

void tollbar_fortran_init(int* error) {
    static struct tollbar_fortran call = {.name = "mpi_init_"};
    init(&call, (void* [6]){error});
}

void tollbar_fortran_init_f08(int* error) {
    static struct tollbar_fortran call = {.name = "mpi_init_f08_"};
    init(&call, (void* [6]){error});
}

void tollbar_fortran_init_thread(int* required, int* provided, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_init_thread_"};
    init(&call, (void* [6]){required, provided, error});
}

void tollbar_fortran_init_thread_f08(int* required, int* provided, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_init_thread_f08_"};
    init(&call, (void* [6]){required, provided, error});
}

void tollbar_fortran_barrier(int* comm, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_barrier" TOLLBAR_FORTRAN};
    if (!tollbar_fits())
        tollbar_go_on(&call, (void* [6]){comm, error});
    else
        set(error, tollbar_barrier(PMPI_Comm_f2c(*comm), __builtin_return_address(0)));
}

void tollbar_fortran_ibarrier(int* comm, int* request, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_ibarrier" TOLLBAR_FORTRAN};
    if (!tollbar_fits()) {
        tollbar_go_on(&call, (void* [6]){comm, request, error});
        return;
    }
    MPI_Request made;
    const int code = tollbar_ibarrier(PMPI_Comm_f2c(*comm), __builtin_return_address(0), &made);
    if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(made);
    set(error, code);
}

void tollbar_fortran_barrier_init(int* comm, int* info, int* request, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_barrier_init" TOLLBAR_FORTRAN};
    static struct tollbar_fortran extension = {.name = "mpix_barrier_init_"}; /* Open MPI 4's */
    if (!tollbar_fits()) {
        if (!tollbar_go_on(&call, (void* [6]){comm, info, request, error}))
            tollbar_go_on(&extension, (void* [6]){comm, info, request, error});
        return;
    }
    MPI_Request made;
    const int code = tollbar_barrier_init(PMPI_Comm_f2c(*comm), PMPI_Info_f2c(*info), &made);
    if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(made);
    set(error, code);
}

void tollbar_fortran_start(int* request, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_start" TOLLBAR_FORTRAN};
    if (!tollbar_any_handles()) {
        tollbar_go_on(&call, (void* [6]){request, error});
        return;
    }
    MPI_Request handle = PMPI_Request_f2c(*request);
    set(error, tollbar_start(1, &handle, __builtin_return_address(0)));
}

void tollbar_fortran_startall(int* count, int* requests, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_startall" TOLLBAR_FORTRAN};
    MPI_Request* handles = tollbar_any_handles() && *count > 0 ? malloc((size_t)*count * sizeof *handles) : NULL;
    if (handles == NULL) {
        tollbar_go_on(&call, (void* [6]){count, requests, error});
        return;
    }
    for (int i = 0; i < *count; ++i) handles[i] = PMPI_Request_f2c(requests[i]);
    set(error, tollbar_start(*count, handles, __builtin_return_address(0)));
    free(handles);
}

void tollbar_fortran_request_free(int* request, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_request_free" TOLLBAR_FORTRAN};
    if (tollbar_any_handles()) tollbar_request_is_freed(PMPI_Request_f2c(*request));
    tollbar_go_on(&call, (void* [6]){request, error});
}

/* These two end requests by themselves, and would wait for a late rank with all of a CPU. */

void tollbar_fortran_wait(int* request, void* status, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_wait" TOLLBAR_FORTRAN};
    tollbar_settle_all(1, request);
    tollbar_go_on(&call, (void* [6]){request, status, error});
}

void tollbar_fortran_waitall(int* count, int* requests, void* statuses, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_waitall" TOLLBAR_FORTRAN};
    tollbar_settle_all(*count, requests);
    tollbar_go_on(&call, (void* [6]){count, requests, statuses, error});
}
