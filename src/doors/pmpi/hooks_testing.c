/* SPDX-License-Identifier: Apache-2.0
 * The C names that look whether requests are over and never wait, MPI_Test apart. An MPI that nobody can register with
 * has barriers go on here before it looks. */
#include "hooks.h"
#include "pending.h"

int tollbar_pass_testall(int count, void* requests, int* over, void* statuses) TOLLBAR_PASSED_TO(PMPI_Testall);
int tollbar_pass_testany(int count, void* requests, int* which, int* over, void* status)
    TOLLBAR_PASSED_TO(PMPI_Testany);
int tollbar_pass_testsome(int count, void* requests, int* done, int* which, void* statuses)
    TOLLBAR_PASSED_TO(PMPI_Testsome);
int tollbar_pass_status(tollbar_word request, int* over, void* status) TOLLBAR_PASSED_TO(PMPI_Request_get_status);
int tollbar_pass_status_all(int count, void* requests, int* over, void* statuses)
    TOLLBAR_PASSED_TO(PMPI_Request_get_status_all);
int tollbar_pass_status_any(int count, void* requests, int* which, int* over, void* status)
    TOLLBAR_PASSED_TO(PMPI_Request_get_status_any);
int tollbar_pass_status_some(int count, void* requests, int* done, int* which, void* statuses)
    TOLLBAR_PASSED_TO(PMPI_Request_get_status_some);

int tollbar_hook_testall(int count, void* requests, int* over, void* statuses) TOLLBAR_NAMED(MPI_Testall);
int tollbar_hook_testany(int count, void* requests, int* which, int* over, void* status) TOLLBAR_NAMED(MPI_Testany);
int tollbar_hook_testsome(int count, void* requests, int* done, int* which, void* statuses) TOLLBAR_NAMED(MPI_Testsome);
int tollbar_hook_status(tollbar_word request, int* over, void* status) TOLLBAR_NAMED(MPI_Request_get_status);
int tollbar_hook_status_all(int count, void* requests, int* over, void* statuses)
    TOLLBAR_NAMED(MPI_Request_get_status_all);
int tollbar_hook_status_any(int count, void* requests, int* which, int* over, void* status)
    TOLLBAR_NAMED(MPI_Request_get_status_any);
int tollbar_hook_status_some(int count, void* requests, int* done, int* which, void* statuses)
    TOLLBAR_NAMED(MPI_Request_get_status_some);

int tollbar_hook_testall(int count, void* requests, int* over, void* statuses) {
    tollbar_pending_advance();
    return tollbar_pass_testall(count, requests, over, statuses);
}

int tollbar_hook_testany(int count, void* requests, int* which, int* over, void* status) {
    tollbar_pending_advance();
    return tollbar_pass_testany(count, requests, which, over, status);
}

int tollbar_hook_testsome(int count, void* requests, int* done, int* which, void* statuses) {
    tollbar_pending_advance();
    return tollbar_pass_testsome(count, requests, done, which, statuses);
}

int tollbar_hook_status(tollbar_word request, int* over, void* status) {
    tollbar_pending_advance();
    return tollbar_pass_status(request, over, status);
}

int tollbar_hook_status_all(int count, void* requests, int* over, void* statuses) {
    tollbar_pending_advance();
    return tollbar_pass_status_all(count, requests, over, statuses);
}

int tollbar_hook_status_any(int count, void* requests, int* which, int* over, void* status) {
    tollbar_pending_advance();
    return tollbar_pass_status_any(count, requests, which, over, status);
}

int tollbar_hook_status_some(int count, void* requests, int* done, int* which, void* statuses) {
    tollbar_pending_advance();
    return tollbar_pass_status_some(count, requests, done, which, statuses);
}
