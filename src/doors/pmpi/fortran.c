/* SPDX-License-Identifier: Apache-2.0
 * The calls that do not come by a C name from the Fortran of one MPI or another. The names that programs see are given
 * to these functions by the linker, see CMakeLists.txt; TOLLBAR_FORTRAN ends those that this MPI's Fortran calls: "_"
 * or
 * "_f08_". All arguments of Fortran are addresses, and `error` may be NULL. */
#include "communicator.h"
#include "family.h"
#include "hooks.h"
#include "host_mpi.h"
#include "persistent.h"
#include "request.h"

#include <stdlib.h>

#ifdef TOLLBAR_STANDARD_ABI /* it converts Fortran's handles by other names */
#    define PMPI_Comm_f2c PMPI_Comm_fromint
#    define PMPI_Request_c2f PMPI_Request_toint
#    define PMPI_Request_f2c PMPI_Request_fromint
#endif

/* The next definition of a Fortran name, looked up when it is first called. */
struct next {
    const char* name;
    void (*function)(void*, void*, void*, void*, void*, void*);
};

static struct next next_init = {.name = "mpi_init_"};
static struct next next_init_f08 = {.name = "mpi_init_f08_"};
static struct next next_init_thread = {.name = "mpi_init_thread_"};
static struct next next_init_thread_f08 = {.name = "mpi_init_thread_f08_"};
static struct next next_barrier = {.name = "mpi_barrier" TOLLBAR_FORTRAN};
static struct next next_ibarrier = {.name = "mpi_ibarrier" TOLLBAR_FORTRAN};
static struct next next_barrier_init = {.name = "mpi_barrier_init" TOLLBAR_FORTRAN};
static struct next next_start = {.name = "mpi_start" TOLLBAR_FORTRAN};
static struct next next_startall = {.name = "mpi_startall" TOLLBAR_FORTRAN};
static struct next next_request_free = {.name = "mpi_request_free" TOLLBAR_FORTRAN};
static struct next next_wait = {.name = "mpi_wait" TOLLBAR_FORTRAN};
static struct next next_waitall = {.name = "mpi_waitall" TOLLBAR_FORTRAN};
static struct next next_waitany = {.name = "mpi_waitany" TOLLBAR_FORTRAN};
static struct next next_waitsome = {.name = "mpi_waitsome" TOLLBAR_FORTRAN};
static struct next next_test = {.name = "mpi_test" TOLLBAR_FORTRAN};
static struct next next_testall = {.name = "mpi_testall" TOLLBAR_FORTRAN};
static struct next next_testany = {.name = "mpi_testany" TOLLBAR_FORTRAN};
static struct next next_testsome = {.name = "mpi_testsome" TOLLBAR_FORTRAN};
static struct next next_request_get_status = {.name = "mpi_request_get_status" TOLLBAR_FORTRAN};
static struct next next_comm_free = {.name = "mpi_comm_free" TOLLBAR_FORTRAN};
static struct next next_comm_disconnect = {.name = "mpi_comm_disconnect" TOLLBAR_FORTRAN};
static struct next next_extension = {.name = "mpix_barrier_init_"}; /* Open MPI 4's */

/* Nonzero when there is one. Whoever takes fewer arguments does not look at the rest. */
static int go_on(struct next* next, void* const arguments[6]) {
    if (next->function == NULL)
        next->function = (void (*)(void*, void*, void*, void*, void*, void*))tollbar_find(RTLD_NEXT, next->name);
    if (next->function == NULL) return 0;
    next->function(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
    return 1;
}

static void advance_and_go_on(struct next* next, void* const arguments[6]) {
    tollbar_pending_advance();
    go_on(next, arguments);
}

/* Waits politely for those of the requests that are ours. */
static void settle_all(int count, const int* requests) {
    for (int i = 0; i < count && tollbar_anything_pending(); ++i) tollbar_request_settle(PMPI_Request_f2c(requests[i]));
}

static void set(int* error, int code) {
    if (error != NULL) *error = code;
}

/* A library in the wrong MPI speaks up from the start, one in the right one does what its C name does. */
static void init(struct next* next, void* const arguments[6]) {
    tollbar_find_fit();
    if (go_on(next, arguments)) tollbar_open();
}

void tollbar_fortran_init(int* error) { init(&next_init, (void* [6]){error}); }

void tollbar_fortran_init_f08(int* error) { init(&next_init_f08, (void* [6]){error}); }

void tollbar_fortran_init_thread(int* required, int* provided, int* error) {
    init(&next_init_thread, (void* [6]){required, provided, error});
}

void tollbar_fortran_init_thread_f08(int* required, int* provided, int* error) {
    init(&next_init_thread_f08, (void* [6]){required, provided, error});
}

void tollbar_fortran_barrier(int* comm, int* error) {
    int code;
    if (!tollbar_fits() || !tollbar_barrier(PMPI_Comm_f2c(*comm), __builtin_return_address(0), &code))
        go_on(&next_barrier, (void* [6]){comm, error});
    else
        set(error, code);
}

void tollbar_fortran_ibarrier(int* comm, int* request, int* error) {
    MPI_Request made;
    int code;
    if (!tollbar_fits() || !tollbar_ibarrier(PMPI_Comm_f2c(*comm), __builtin_return_address(0), &made, &code)) {
        go_on(&next_ibarrier, (void* [6]){comm, request, error});
        return;
    }
    if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(made);
    set(error, code);
}

void tollbar_fortran_barrier_init(int* comm, int* info, int* request, int* error) {
    MPI_Request made;
    int code;
    if (!tollbar_fits() || !tollbar_barrier_init(PMPI_Comm_f2c(*comm), &made, &code)) {
        void* const arguments[6] = {comm, info, request, &code};
        code = MPI_SUCCESS;
        const int made_by_mpi = go_on(&next_barrier_init, arguments) || go_on(&next_extension, arguments);
        if (made_by_mpi && code == MPI_SUCCESS && tollbar_fits())
            tollbar_barrier_init_is_passed(PMPI_Comm_f2c(*comm), PMPI_Request_f2c(*request));
        set(error, code);
        return;
    }
    if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(made);
    set(error, code);
}

void tollbar_fortran_start(int* request, int* error) {
    if (!tollbar_any_handles()) {
        go_on(&next_start, (void* [6]){request, error});
        return;
    }
    MPI_Request handle = PMPI_Request_f2c(*request);
    set(error, tollbar_start(1, &handle, __builtin_return_address(0)));
}

void tollbar_fortran_startall(int* count, int* requests, int* error) {
    MPI_Request* handles = tollbar_any_handles() && *count > 0 ? malloc((size_t)*count * sizeof *handles) : NULL;
    if (handles == NULL) {
        go_on(&next_startall, (void* [6]){count, requests, error});
        return;
    }
    for (int i = 0; i < *count; ++i) handles[i] = PMPI_Request_f2c(requests[i]);
    set(error, tollbar_start(*count, handles, __builtin_return_address(0)));
    free(handles);
}

void tollbar_fortran_request_free(int* request, int* error) {
    if (tollbar_any_handles()) tollbar_request_is_freed(PMPI_Request_f2c(*request));
    go_on(&next_request_free, (void* [6]){request, error});
}

static void free_comm(struct next* next, const int* comm, void* const arguments[6]) {
    struct tollbar_freeing freeing;
    const MPI_Comm handle = tollbar_fits() ? PMPI_Comm_f2c(*comm) : (MPI_Comm)0;
    tollbar_begin_freeing(&freeing, &handle);
    go_on(next, arguments);
    tollbar_end_freeing(&freeing);
}

void tollbar_fortran_comm_free(int* comm, int* error) { free_comm(&next_comm_free, comm, (void* [6]){comm, error}); }

void tollbar_fortran_comm_disconnect(int* comm, int* error) {
    free_comm(&next_comm_disconnect, comm, (void* [6]){comm, error});
}

/* These two end requests by themselves, and would wait for a late rank with all of a CPU. */

void tollbar_fortran_wait(int* request, void* status, int* error) {
    settle_all(1, request);
    go_on(&next_wait, (void* [6]){request, status, error});
}

void tollbar_fortran_waitall(int* count, int* requests, void* statuses, int* error) {
    settle_all(*count, requests);
    go_on(&next_waitall, (void* [6]){count, requests, statuses, error});
}

/* The rest comes by its C name but from mpi_f08 of MPICH and its kin. That MPI does not poll persistent barriers: those
 * go on here, and it finds them over. */

void tollbar_fortran_test(int* request, int* over, void* status, int* error) {
    advance_and_go_on(&next_test, (void* [6]){request, over, status, error});
}

void tollbar_fortran_testall(int* count, int* requests, int* over, void* statuses, int* error) {
    advance_and_go_on(&next_testall, (void* [6]){count, requests, over, statuses, error});
}

void tollbar_fortran_testany(int* count, int* requests, int* which, int* over, void* status, int* error) {
    advance_and_go_on(&next_testany, (void* [6]){count, requests, which, over, status, error});
}

void tollbar_fortran_testsome(int* count, int* requests, int* done, int* which, void* statuses, int* error) {
    advance_and_go_on(&next_testsome, (void* [6]){count, requests, done, which, statuses, error});
}

void tollbar_fortran_request_get_status(int* request, int* over, void* status, int* error) {
    advance_and_go_on(&next_request_get_status, (void* [6]){request, over, status, error});
}

/* Once nothing of ours is pending the MPI may wait in its own way. */
void tollbar_fortran_waitany(int* count, int* requests, int* which, void* status, int* error) {
    for (int64_t since_ns = 0; tollbar_anything_pending();) {
        int over = 0, code = MPI_SUCCESS;
        tollbar_fortran_testany(count, requests, which, &over, status, &code);
        set(error, code);
        if (code != MPI_SUCCESS || over) return;
        tollbar_mpi_pass_time(&since_ns);
    }
    go_on(&next_waitany, (void* [6]){count, requests, which, status, error});
}

void tollbar_fortran_waitsome(int* count, int* requests, int* done, int* which, void* statuses, int* error) {
    for (int64_t since_ns = 0; tollbar_anything_pending();) {
        int code = MPI_SUCCESS;
        tollbar_fortran_testsome(count, requests, done, which, statuses, &code);
        set(error, code);
        if (code != MPI_SUCCESS || *done != 0) return; /* MPI_UNDEFINED too: there was nothing to wait for */
        tollbar_mpi_pass_time(&since_ns);
    }
    go_on(&next_waitsome, (void* [6]){count, requests, done, which, statuses, error});
}
