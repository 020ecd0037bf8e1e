/* SPDX-License-Identifier: Apache-2.0
 * The C names that make, start and free persistent barriers. Open MPI 4 has the first one as an extension (MPIX_), the
 * others as the standard's. */
#include "communicator.h"
#include "hooks.h"
#include "host_mpi.h"
#include "persistent.h"

int tollbar_pass_barrier_init(tollbar_word comm, tollbar_word info, void* request) TOLLBAR_PASSED_TO(PMPI_Barrier_init);
int tollbar_pass_extension(tollbar_word comm, tollbar_word info, void* request) TOLLBAR_PASSED_TO(PMPIX_Barrier_init);
int tollbar_pass_start(void* request) TOLLBAR_PASSED_TO(PMPI_Start);
int tollbar_pass_startall(int count, void* requests) TOLLBAR_PASSED_TO(PMPI_Startall);
int tollbar_pass_request_free(void* request) TOLLBAR_PASSED_TO(PMPI_Request_free);

int tollbar_hook_barrier_init(tollbar_word comm, tollbar_word info, void* request) TOLLBAR_NAMED(MPI_Barrier_init);
int tollbar_hook_extension(tollbar_word comm, tollbar_word info, void* request) TOLLBAR_NAMED(MPIX_Barrier_init);
int tollbar_hook_start(void* request) TOLLBAR_NAMED(MPI_Start);
int tollbar_hook_startall(int count, void* requests) TOLLBAR_NAMED(MPI_Startall);
int tollbar_hook_request_free(void* request) TOLLBAR_NAMED(MPI_Request_free);

static int pass_barrier_init(tollbar_word comm, tollbar_word info, void* request) {
    if (tollbar_pass_barrier_init != NULL) return tollbar_pass_barrier_init(comm, info, request);
    if (tollbar_pass_extension != NULL) return tollbar_pass_extension(comm, info, request);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

/* May wait for the others, as the standard lets it, and so makes what the first barrier of a communicator makes. */
int tollbar_barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    int code = MPI_SUCCESS;
    struct tollbar_communicator* communicator = tollbar_communicator_of_all(comm, NULL);
    if (communicator != NULL && communicator->persists && tollbar_persistent_init(comm, communicator, request, &code))
        return code;
    return pass_barrier_init((tollbar_word)comm, (tollbar_word)info, request);
}

int tollbar_start(int count, const MPI_Request* requests, const void* call_site) {
    /* Open MPI 4 starts once more what is under way, and then one of the two never ends. */
    for (int i = 0; i < count && tollbar_any_handles(); ++i)
        if (tollbar_persistent_under_way(requests[i])) return MPI_ERR_REQUEST;
    /* The MPI first: it refuses what else is not to be started. */
    const int code = count == 1 ? tollbar_pass_start((void*)requests) : tollbar_pass_startall(count, (void*)requests);
    if (code != MPI_SUCCESS) return code;
    for (int i = 0; i < count && tollbar_any_handles(); ++i) tollbar_persistent_start(requests[i], call_site);
    return code;
}

int tollbar_request_free(MPI_Request* request) {
    if (*request != MPI_REQUEST_NULL && tollbar_any_handles()) tollbar_persistent_free(*request);
    return PMPI_Request_free(request);
}

int tollbar_hook_barrier_init(tollbar_word comm, tollbar_word info, void* request) {
    if (!tollbar_fits()) return pass_barrier_init(comm, info, request);
    return tollbar_barrier_init((MPI_Comm)comm, (MPI_Info)info, request);
}

int tollbar_hook_extension(tollbar_word comm, tollbar_word info, void* request) {
    return tollbar_hook_barrier_init(comm, info, request);
}

int tollbar_hook_start(void* request) {
    if (!tollbar_any_handles()) return tollbar_pass_start(request);
    return tollbar_start(1, request, __builtin_return_address(0));
}

int tollbar_hook_startall(int count, void* requests) {
    if (!tollbar_any_handles()) return tollbar_pass_startall(count, requests);
    return tollbar_start(count, requests, __builtin_return_address(0));
}

int tollbar_hook_request_free(void* request) {
    if (!tollbar_any_handles()) return tollbar_pass_request_free(request);
    return tollbar_request_free(request);
}
