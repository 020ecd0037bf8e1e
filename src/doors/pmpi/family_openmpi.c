/* SPDX-License-Identifier: Apache-2.0
 * What only Open MPI does: constants are addresses of its objects, and anybody may register with its progress. */
#include "family.h"

const char* const tollbar_family = "openmpi";
const int tollbar_mpi_forgets_pending = 1;
const int tollbar_mpi_makes_one_at_a_time = 1;
const int tollbar_hooks_suffice = 0;

void* tollbar_open_mpi_data[tollbar_objects];

typedef int (*progress_function)(void);

static void (*advance_ours)(void);

int tollbar_find_constants(void) {
    static const char* const names[tollbar_objects] = {
        [tollbar_comm_world] = "ompi_mpi_comm_world", [tollbar_comm_self] = "ompi_mpi_comm_self",
        [tollbar_comm_null] = "ompi_mpi_comm_null",   [tollbar_group_null] = "ompi_mpi_group_null",
        [tollbar_request_null] = "ompi_request_null", [tollbar_errors_return] = "ompi_mpi_errors_return",
        [tollbar_info_null] = "ompi_mpi_info_null",   [tollbar_byte] = "ompi_mpi_byte",
        [tollbar_character] = "ompi_mpi_char",        [tollbar_integer] = "ompi_mpi_int",
        [tollbar_two_integers] = "ompi_mpi_2int",     [tollbar_op_max] = "ompi_mpi_op_max",
        [tollbar_op_minloc] = "ompi_mpi_op_minloc",
    };
    for (int i = 0; i < tollbar_objects; ++i)
        if ((tollbar_open_mpi_data[i] = dlsym(RTLD_DEFAULT, names[i])) == NULL) return 0;
    return 1;
}

static int advance(void) {
    advance_ours();
    return 0;
}

int tollbar_join_progress(void (*advance_all)(void), void (*wait)(void*)) {
    (void)wait; /* what waits in Open MPI makes progress */
    int (*join)(progress_function) = (int (*)(progress_function))tollbar_of_program("opal_progress_register");
    advance_ours = advance_all;
    return join != NULL && join(advance) == 0;
}

void tollbar_leave_progress(void) {
    int (*leave)(progress_function) = (int (*)(progress_function))tollbar_of_program("opal_progress_unregister");
    if (leave != NULL) leave(advance);
}

int tollbar_make_request(MPI_Grequest_query_function* status, MPI_Grequest_free_function* freed,
                         MPI_Grequest_cancel_function* cancel, void* state, MPI_Request* request) {
    return PMPI_Grequest_start(status, freed, cancel, state, request);
}
