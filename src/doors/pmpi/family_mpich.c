/* SPDX-License-Identifier: Apache-2.0
 * What MPICH and its kin do, by their own mpi.h or by the standard ABI's: a generalized request brings the function
 * along that its waiting calls. */
#include "family.h"

const char* const tollbar_family = TOLLBAR_MPI_FAMILY;
const int tollbar_mpi_forgets_pending = 0;
const int tollbar_mpi_makes_one_at_a_time = 0;
const int tollbar_hooks_suffice = 1;

typedef int (*extended_start)(MPI_Grequest_query_function*, MPI_Grequest_free_function*, MPI_Grequest_cancel_function*,
                              int (*poll)(void*, MPI_Status*), int (*wait)(int, void**, double, MPI_Status*), void*,
                              MPI_Request*);

static void (*advance_ours)(void);
static void (*wait_for_ours)(void*);
static extended_start start;

int tollbar_find_constants(void) { return 1; }

static int poll_one(void* state, MPI_Status* status) {
    (void)state, (void)status;
    advance_ours();
    return MPI_SUCCESS;
}

static int wait_all(int count, void** states, double longest, MPI_Status* status) {
    (void)longest, (void)status;
    for (int i = 0; i < count; ++i) wait_for_ours(states[i]);
    return MPI_SUCCESS;
}

int tollbar_join_progress(void (*advance)(void), void (*wait)(void*)) {
    advance_ours = advance;
    wait_for_ours = wait;
    start = (extended_start)tollbar_of_program("PMPIX_Grequest_start");
    if (start == NULL) start = (extended_start)tollbar_of_program("MPIX_Grequest_start"); /* MPICH 5, standard ABI */
    return start != NULL;
}

void tollbar_leave_progress(void) {}

int tollbar_make_request(MPI_Grequest_query_function* status, MPI_Grequest_free_function* freed,
                         MPI_Grequest_cancel_function* cancel, void* state, MPI_Request* request) {
    return start(status, freed, cancel, poll_one, wait_all, state, request);
}
