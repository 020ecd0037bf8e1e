/* SPDX-License-Identifier: Apache-2.0
 * Open MPI, whose constants are addresses of its objects. */
#include "family.h"

const char* const tollbar_family = "openmpi";
const int tollbar_mpi_makes_one_at_a_time = 1;

void* tollbar_open_mpi_data[tollbar_objects];

int tollbar_find_constants(void) {
    static const char* const names[tollbar_objects] = {
        [tollbar_comm_world] = "ompi_mpi_comm_world", [tollbar_comm_self] = "ompi_mpi_comm_self",
        [tollbar_comm_null] = "ompi_mpi_comm_null",   [tollbar_group_null] = "ompi_mpi_group_null",
        [tollbar_request_null] = "ompi_request_null", [tollbar_errors_return] = "ompi_mpi_errors_return",
        [tollbar_info_null] = "ompi_mpi_info_null",   [tollbar_byte] = "ompi_mpi_byte",
        [tollbar_integer] = "ompi_mpi_int",           [tollbar_op_max] = "ompi_mpi_op_max",
    };
    for (int i = 0; i < tollbar_objects; ++i)
        if ((tollbar_open_mpi_data[i] = dlsym(RTLD_DEFAULT, names[i])) == NULL) return 0;
    return 1;
}
