/* SPDX-License-Identifier: Apache-2.0
 * The C names of the calls that tollbar does. Where the library does not fit, or the communicator is left to the MPI,
 * each goes on as next.h says. */
#include "hooks.h"

#include "communicator.h"
#include "failures.h"
#include "family.h"
#include "host_mpi.h"
#include "next.h"
#include "persistent.h"
#include "request.h"

#include <stdint.h>

/* Where handles come by value they are words: in the wrong MPI they are of another size, and are passed on whole. Open
 * MPI 4 has Barrier_init as an extension, and an MPI may lack it. */
typedef uintptr_t word;
int tollbar_hook_barrier(word comm) __asm__("MPI_Barrier");
int tollbar_hook_ibarrier(word comm, void* request) __asm__("MPI_Ibarrier");
int tollbar_hook_barrier_init(word comm, word info, void* request) __asm__("MPI_Barrier_init");
int tollbar_hook_extension(word comm, word info, void* request) __asm__("MPIX_Barrier_init")
    __attribute__((alias("MPI_Barrier_init")));

/* The result of a call that fails with that code. */
static int failed(MPI_Comm comm, int code) {
    PMPI_Comm_call_errhandler(comm, code);
    return code;
}

static inline int barrier(MPI_Comm comm, const void* call_site, int* code) {
    struct tollbar_first first = {.call_site = call_site};
    struct tollbar_communicator* communicator = tollbar_communicator_of(comm, 1, &first);
    *code = first.error;
    if (first.error != MPI_SUCCESS) failed(comm, first.error);
    if (communicator == NULL || first.error != MPI_SUCCESS) return first.error != MPI_SUCCESS;
    ++communicator->barriers;
    if (first.met) return 1;
    struct tollbar_joined* joined = &communicator->joined;
    int error = 0;
    if (joined->may_be_revoked && (*code = tollbar_is_revoked(comm)) != MPI_SUCCESS) return failed(comm, *code), 1;
    if (tollbar_row_is_pending(&joined->row))
        tollbar_barrier_after_pending(joined, call_site);
    else
        error = tollbar_mpi_arrive_and_wait(joined->row.participant, call_site);
    *code = error == 0 ? MPI_SUCCESS : failed(comm, tollbar_code_of(joined, error));
    return 1;
}

int tollbar_barrier(MPI_Comm comm, const void* call_site, int* code) { return barrier(comm, call_site, code); }

/* The first collective barrier of a communicator makes what it needs, and blocks for it; this call may not, so that
 * before it the MPI does this one. Every rank calls the two in the same order, so all do the same. */
int tollbar_ibarrier(MPI_Comm comm, const void* call_site, MPI_Request* request, int* code) {
    struct tollbar_communicator* communicator = tollbar_communicator_of(comm, 0, NULL);
    if (communicator != NULL && communicator->joined.splits_phases) {
        ++communicator->ibarriers;
        *code = tollbar_request_start(&communicator->joined, call_site, request);
        return 1;
    }
    communicator = tollbar_mpi_forgets_pending && tollbar_failures() == NULL ? tollbar_record_of(comm) : NULL;
    if (communicator == NULL || !tollbar_requests_can_be_had()) return 0;
    *code = tollbar_request_pass(&communicator->joined, comm, request);
    return 1;
}

/* May wait for the others, as the standard lets it, and so makes what the first barrier of a communicator makes. */
int tollbar_barrier_init(MPI_Comm comm, MPI_Request* request, int* code) {
    struct tollbar_first first = {0};
    struct tollbar_communicator* communicator = tollbar_communicator_of(comm, 1, &first);
    *code = first.error;
    if (first.error != MPI_SUCCESS) return failed(comm, first.error), 1;
    const int ours = communicator != NULL && communicator->joined.persists &&
                     tollbar_persistent_init(comm, &communicator->joined, request, code);
    tollbar_release_freed();
    return ours;
}

/* Kept only where its end is seen here. */
void tollbar_barrier_init_is_passed(MPI_Comm comm, MPI_Request request) {
    const int forgets = tollbar_mpi_forgets_pending && tollbar_failures() == NULL &&
                        tollbar_persistent_calls_come_here();
    const struct tollbar_communicator* communicator = forgets ? tollbar_record_of(comm) : NULL;
    if (communicator != NULL) tollbar_persistent_pass(&communicator->joined, request);
}

int tollbar_start(int count, MPI_Request* requests, const void* call_site) {
    /* Open MPI 4 starts once more what is under way, and then one of the two never ends. */
    for (int i = 0; i < count && tollbar_any_handles(); ++i)
        if (tollbar_persistent_under_way(requests[i])) return MPI_ERR_REQUEST;
    /* The MPI first: it refuses what else is not to be started. */
    const int code = count == 1 ? tollbar_next()->start(requests) : tollbar_next()->startall(count, requests);
    if (code != MPI_SUCCESS) return code;
    for (int i = 0; i < count && tollbar_any_handles(); ++i) tollbar_persistent_start(requests[i], call_site);
    return code;
}

void tollbar_request_is_freed(MPI_Request request) {
    if (!tollbar_any_handles()) return;
    tollbar_persistent_free(request);
    tollbar_release_freed();
}

int tollbar_hook_barrier(word comm) {
    int code;
    if (tollbar_fits() && barrier((MPI_Comm)comm, __builtin_return_address(0), &code)) return code;
    return tollbar_next()->barrier(comm);
}

int tollbar_hook_ibarrier(word comm, void* request) {
    int code;
    if (tollbar_fits() && tollbar_ibarrier((MPI_Comm)comm, __builtin_return_address(0), request, &code)) return code;
    return tollbar_next()->ibarrier(comm, request);
}

int tollbar_hook_barrier_init(word comm, word info, void* request) {
    int code;
    if (tollbar_fits() && tollbar_barrier_init((MPI_Comm)comm, request, &code)) return code;
    const struct tollbar_calls* next = tollbar_next();
    if (next->barrier_init == NULL) return MPI_ERR_UNSUPPORTED_OPERATION;
    code = next->barrier_init(comm, info, request);
    if (code == MPI_SUCCESS && tollbar_fits())
        tollbar_barrier_init_is_passed((MPI_Comm)comm, *(const MPI_Request*)request);
    return code;
}

int MPI_Start(MPI_Request* request) {
    if (!tollbar_any_handles()) return tollbar_next()->start(request);
    return tollbar_start(1, request, __builtin_return_address(0));
}

int MPI_Startall(int count, MPI_Request* requests) {
    if (!tollbar_any_handles()) return tollbar_next()->startall(count, requests);
    return tollbar_start(count, requests, __builtin_return_address(0));
}

int MPI_Request_free(MPI_Request* request) {
    if (tollbar_any_handles()) tollbar_request_is_freed(*request);
    return tollbar_next()->request_free(request);
}

static int freed(MPI_Comm* comm, int (*by)(MPI_Comm*)) {
    struct tollbar_freeing freeing;
    tollbar_begin_freeing(&freeing, comm);
    const int code = by(comm);
    tollbar_end_freeing(&freeing);
    return code;
}

int MPI_Comm_free(MPI_Comm* comm) { return freed(comm, tollbar_next()->comm_free); }

int MPI_Comm_disconnect(MPI_Comm* comm) { return freed(comm, tollbar_next()->comm_disconnect); }

static int opened(int code) {
    if (code == MPI_SUCCESS) tollbar_open();
    return code;
}

int MPI_Init(int* argc, char*** argv) {
    tollbar_find_fit();
    return opened(tollbar_next()->init(argc, argv));
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    tollbar_find_fit();
    return opened(tollbar_next()->init_thread(argc, argv, required, provided));
}
