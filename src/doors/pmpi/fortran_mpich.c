/* SPDX-License-Identifier: Apache-2.0
 * More of the mpi_f08 names of MPICH and its kin that complete requests. They do not come by the C names, and the MPI
 * does not poll persistent barriers: those go on here, and the MPI finds them over. */
#include "fortran.h"
#include "pending.h"

void tollbar_fortran_waitany(int* count, int* requests, int* which, void* status, int* error);
void tollbar_fortran_waitsome(int* count, int* requests, int* done, int* which, void* statuses, int* error);
void tollbar_fortran_test(int* request, int* over, void* status, int* error);
void tollbar_fortran_testall(int* count, int* requests, int* over, void* statuses, int* error);
void tollbar_fortran_testany(int* count, int* requests, int* which, int* over, void* status, int* error);
void tollbar_fortran_testsome(int* count, int* requests, int* done, int* which, void* statuses, int* error);
void tollbar_fortran_request_get_status(int* request, int* over, void* status, int* error);

/* Once nothing of ours is pending the MPI may wait in its own way. */
void tollbar_fortran_waitany(int* count, int* requests, int* which, void* status, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_waitany_f08_"};
    for (int64_t since_ns = 0; tollbar_anything_pending();) {
        int over = 0, code = MPI_SUCCESS;
        tollbar_fortran_testany(count, requests, which, &over, status, &code);
        if (error != NULL) *error = code;
        if (code != MPI_SUCCESS || over) return;
        tollbar_mpi_pass_time(&since_ns);
    }
    tollbar_go_on(&call, (void* [6]){count, requests, which, status, error});
}

void tollbar_fortran_waitsome(int* count, int* requests, int* done, int* which, void* statuses, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_waitsome_f08_"};
    for (int64_t since_ns = 0; tollbar_anything_pending();) {
        int code = MPI_SUCCESS;
        tollbar_fortran_testsome(count, requests, done, which, statuses, &code);
        if (error != NULL) *error = code;
        if (code != MPI_SUCCESS || *done != 0) return; /* MPI_UNDEFINED too: there was nothing to wait for */
        tollbar_mpi_pass_time(&since_ns);
    }
    tollbar_go_on(&call, (void* [6]){count, requests, done, which, statuses, error});
}

void tollbar_fortran_test(int* request, int* over, void* status, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_test_f08_"};
    tollbar_pending_advance();
    tollbar_go_on(&call, (void* [6]){request, over, status, error});
}

void tollbar_fortran_testall(int* count, int* requests, int* over, void* statuses, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_testall_f08_"};
    tollbar_pending_advance();
    tollbar_go_on(&call, (void* [6]){count, requests, over, statuses, error});
}

void tollbar_fortran_testany(int* count, int* requests, int* which, int* over, void* status, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_testany_f08_"};
    tollbar_pending_advance();
    tollbar_go_on(&call, (void* [6]){count, requests, which, over, status, error});
}

void tollbar_fortran_testsome(int* count, int* requests, int* done, int* which, void* statuses, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_testsome_f08_"};
    tollbar_pending_advance();
    tollbar_go_on(&call, (void* [6]){count, requests, done, which, statuses, error});
}

void tollbar_fortran_request_get_status(int* request, int* over, void* status, int* error) {
    static struct tollbar_fortran call = {.name = "mpi_request_get_status_f08_"};
    tollbar_pending_advance();
    tollbar_go_on(&call, (void* [6]){request, over, status, error});
}
