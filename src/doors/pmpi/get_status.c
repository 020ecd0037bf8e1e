/* SPDX-License-Identifier: Apache-2.0
 * The looks at several requests of MPI 4.1, where the MPI does not go on with persistent barriers by itself. These
 * names are here whatever the MPI has, and programs ask for them by dlsym(3) or weakly: an MPI without them is asked
 * for one request after the other. */
#include "next.h"
#include "request.h"

/* The status behind a call's argument for several; may be ignored. */
static MPI_Status* nth(MPI_Status* statuses, int i) {
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

int MPI_Request_get_status_all(int count, const MPI_Request* requests, int* over, MPI_Status* statuses) {
    tollbar_pending_advance();
    const struct tollbar_calls* next = tollbar_next();
    if (next->get_status_all != NULL) return next->get_status_all(count, requests, over, statuses);
    int code = MPI_SUCCESS;
    *over = 1;
    for (int i = 0; i < count && *over && code == MPI_SUCCESS; ++i)
        code = PMPI_Request_get_status(requests[i], over, nth(statuses, i));
    return code;
}

int MPI_Request_get_status_any(int count, const MPI_Request* requests, int* which, int* over, MPI_Status* status) {
    tollbar_pending_advance();
    const struct tollbar_calls* next = tollbar_next();
    if (next->get_status_any != NULL) return next->get_status_any(count, requests, which, over, status);
    int seen = 0;
    *which = MPI_UNDEFINED;
    *over = 0;
    for (int i = 0; i < count && !*over; ++i) {
        if (requests[i] == MPI_REQUEST_NULL) continue;
        const int code = PMPI_Request_get_status(requests[i], over, status);
        if (code != MPI_SUCCESS) return code;
        if (*over) *which = i;
        ++seen;
    }
    return seen != 0 ? MPI_SUCCESS : PMPI_Request_get_status(MPI_REQUEST_NULL, over, status); /* an empty status */
}

int MPI_Request_get_status_some(int count, const MPI_Request* requests, int* done, int* which, MPI_Status* statuses) {
    tollbar_pending_advance();
    const struct tollbar_calls* next = tollbar_next();
    if (next->get_status_some != NULL) return next->get_status_some(count, requests, done, which, statuses);
    int seen = 0, found = 0;
    for (int i = 0; i < count; ++i) {
        int over = 0;
        if (requests[i] == MPI_REQUEST_NULL) continue;
        const int code = PMPI_Request_get_status(requests[i], &over, nth(statuses, found));
        if (code != MPI_SUCCESS) return code;
        if (over) which[found++] = i;
        ++seen;
    }
    *done = seen != 0 ? found : MPI_UNDEFINED;
    return MPI_SUCCESS;
}
