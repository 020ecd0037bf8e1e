/* SPDX-License-Identifier: Apache-2.0
 * What only Open MPI does: constants are addresses of its objects, and anybody may register with its progress. */
#include "family.h"

const char* const tollbar_family = "openmpi";
const int tollbar_mpi_forgets_pending = 1;
const int tollbar_hooks_suffice = 0;

struct tollbar_open_mpi_data tollbar_open_mpi_data;

typedef int (*progress_function)(void);

static void (*advance_ours)(void);

int tollbar_find_constants(void) {
    struct tollbar_open_mpi_data* data = &tollbar_open_mpi_data;
    const struct {
        const char* name;
        void** place;
    } wanted[] = {
        {"ompi_mpi_comm_world", &data->comm_world}, {"ompi_mpi_comm_self", &data->comm_self},
        {"ompi_mpi_comm_null", &data->comm_null},   {"ompi_mpi_group_null", &data->group_null},
        {"ompi_request_null", &data->request_null}, {"ompi_mpi_errors_return", &data->errors_return},
        {"ompi_mpi_info_null", &data->info_null},   {"ompi_mpi_byte", &data->byte},
        {"ompi_mpi_char", &data->character},        {"ompi_mpi_int", &data->integer},
        {"ompi_mpi_2int", &data->two_integers},     {"ompi_mpi_op_max", &data->op_max},
        {"ompi_mpi_op_minloc", &data->op_minloc},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i)
        if ((*wanted[i].place = dlsym(RTLD_DEFAULT, wanted[i].name)) == NULL) return 0;
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
