/* SPDX-License-Identifier: Apache-2.0
 * Open MPI 5's extension, where the job was started with it (mpirun --with-ft ulfm). */
#include "failures.h"

#include "transports/mpi/family.h"

#include <pthread.h>
#include <stdbool.h>

/* Open MPI 4's mpi.h does not name them. */
enum { process_failed = 75, revoked = 77 };

static int (*is_revoked)(MPI_Comm comm, int* revoked);
static int (*get_failed)(MPI_Comm comm, MPI_Group* failed);
static tollbar_look found;

int tollbar_is_revoked(MPI_Comm comm) {
    int yes = 0;
    return is_revoked(comm, &yes) == MPI_SUCCESS && yes ? revoked : MPI_SUCCESS;
}

static int look(MPI_Comm comm) {
    int dead = 0;
    MPI_Group failed;
    const int code = tollbar_is_revoked(comm);
    if (code != MPI_SUCCESS) return code;
    if (get_failed(comm, &failed) != MPI_SUCCESS) return MPI_SUCCESS;
    PMPI_Group_size(failed, &dead);
    PMPI_Group_free(&failed);
    return dead != 0 ? process_failed : MPI_SUCCESS;
}

static void find_once(void) {
    const bool* enabled = (const bool*)dlsym(RTLD_DEFAULT, "ompi_ftmpi_enabled");
    is_revoked = (int (*)(MPI_Comm, int*))tollbar_of_program("PMPIX_Comm_is_revoked");
    get_failed = (int (*)(MPI_Comm, MPI_Group*))tollbar_of_program("PMPIX_Comm_get_failed");
    if (enabled != NULL && *enabled && is_revoked != NULL && get_failed != NULL) found = look;
}

tollbar_look tollbar_failures(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_once);
    return found;
}
