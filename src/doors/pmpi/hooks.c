/* SPDX-License-Identifier: Apache-2.0
 * The C names of the calls that tollbar does. Where the library does not fit, or the communicator is left to the MPI,
 * each goes on to the profiling name. */
#include "hooks.h"

#include "communicator.h"
#include "family.h"
#include "host_mpi.h"
#include "persistent.h"
#include "request.h"

#include <stdint.h>

/* Where handles come by value they are words: in the wrong MPI they are of another size, and are passed on whole. All
 * that follows but MPI_Barrier and MPI_Ibarrier an MPI may lack. Open MPI 4 has Barrier_init as an extension. */
typedef uintptr_t word;
int tollbar_hook_barrier(word comm) __asm__("MPI_Barrier");
int tollbar_pass_barrier(word comm) __asm__("PMPI_Barrier");
int tollbar_hook_ibarrier(word comm, void* request) __asm__("MPI_Ibarrier");
int tollbar_pass_ibarrier(word comm, void* request) __asm__("PMPI_Ibarrier");
int tollbar_hook_barrier_init(word comm, word info, void* request) __asm__("MPI_Barrier_init");
int tollbar_pass_barrier_init(word comm, word info, void* request) __asm__("PMPI_Barrier_init") __attribute__((weak));
int tollbar_hook_extension(word comm, word info, void* request) __asm__("MPIX_Barrier_init")
    __attribute__((alias("MPI_Barrier_init")));
int tollbar_pass_extension(word comm, word info, void* request) __asm__("PMPIX_Barrier_init") __attribute__((weak));

static int failed(MPI_Comm comm) {
    PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

static inline int barrier(MPI_Comm comm, const void* call_site) {
    struct tollbar_first first = {.call_site = call_site};
    struct tollbar_communicator* communicator = tollbar_communicator_of(comm, 1, &first);
    if (communicator == NULL) return PMPI_Barrier(comm);
    ++communicator->barriers;
    if (first.met) return MPI_SUCCESS;
    struct tollbar_joined* joined = &communicator->joined;
    if (tollbar_row_is_pending(&joined->row))
        tollbar_barrier_after_pending(joined, call_site);
    else if (tollbar_mpi_arrive_and_wait(joined->row.participant, call_site) != 0)
        return failed(comm);
    return MPI_SUCCESS;
}

int tollbar_barrier(MPI_Comm comm, const void* call_site) { return barrier(comm, call_site); }

/* The first collective barrier of a communicator makes what it needs, and blocks for it; this call may not, so that
 * before it the MPI does this one. Every rank calls the two in the same order, so all do the same. */
int tollbar_ibarrier(MPI_Comm comm, const void* call_site, MPI_Request* request) {
    struct tollbar_communicator* communicator = tollbar_communicator_of(comm, 0, NULL);
    if (communicator != NULL && communicator->joined.splits_phases) {
        ++communicator->ibarriers;
        return tollbar_request_start(&communicator->joined, call_site, request);
    }
    if (!tollbar_mpi_forgets_pending) return PMPI_Ibarrier(comm, request);
    communicator = tollbar_record_of(comm);
    if (communicator == NULL || !tollbar_requests_can_be_had()) return PMPI_Ibarrier(comm, request);
    return tollbar_request_pass(&communicator->joined, comm, request);
}

static int pass_barrier_init(word comm, word info, void* request) {
    if (tollbar_pass_barrier_init != NULL) return tollbar_pass_barrier_init(comm, info, request);
    if (tollbar_pass_extension != NULL) return tollbar_pass_extension(comm, info, request);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

/* May wait for the others, as the standard lets it, and so makes what the first barrier of a communicator makes. */
int tollbar_barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    int code = MPI_SUCCESS;
    struct tollbar_communicator* communicator = tollbar_communicator_of(comm, 1, NULL);
    const int ours = communicator != NULL && communicator->joined.persists &&
                     tollbar_persistent_init(comm, &communicator->joined, request, &code);
    tollbar_release_freed();
    return ours ? code : pass_barrier_init((word)comm, (word)info, request);
}

int tollbar_start(int count, MPI_Request* requests, const void* call_site) {
    /* Open MPI 4 starts once more what is under way, and then one of the two never ends. */
    for (int i = 0; i < count && tollbar_any_handles(); ++i)
        if (tollbar_persistent_under_way(requests[i])) return MPI_ERR_REQUEST;
    /* The MPI first: it refuses what else is not to be started. */
    const int code = count == 1 ? PMPI_Start(requests) : PMPI_Startall(count, requests);
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
    if (!tollbar_fits()) return tollbar_pass_barrier(comm);
    return barrier((MPI_Comm)comm, __builtin_return_address(0));
}

int tollbar_hook_ibarrier(word comm, void* request) {
    if (!tollbar_fits()) return tollbar_pass_ibarrier(comm, request);
    return tollbar_ibarrier((MPI_Comm)comm, __builtin_return_address(0), request);
}

int tollbar_hook_barrier_init(word comm, word info, void* request) {
    if (!tollbar_fits()) return pass_barrier_init(comm, info, request);
    return tollbar_barrier_init((MPI_Comm)comm, (MPI_Info)info, request);
}

int MPI_Start(MPI_Request* request) {
    if (!tollbar_any_handles()) return PMPI_Start(request);
    return tollbar_start(1, request, __builtin_return_address(0));
}

int MPI_Startall(int count, MPI_Request* requests) {
    if (!tollbar_any_handles()) return PMPI_Startall(count, requests);
    return tollbar_start(count, requests, __builtin_return_address(0));
}

int MPI_Request_free(MPI_Request* request) {
    if (tollbar_any_handles()) tollbar_request_is_freed(*request);
    return PMPI_Request_free(request);
}

static int opened(int code) {
    if (code == MPI_SUCCESS) tollbar_open_private_comm();
    return code;
}

int MPI_Init(int* argc, char*** argv) {
    tollbar_find_fit();
    return opened(PMPI_Init(argc, argv));
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    tollbar_find_fit();
    return opened(PMPI_Init_thread(argc, argv, required, provided));
}
