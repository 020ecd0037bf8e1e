/* SPDX-License-Identifier: Apache-2.0
 * Preloaded, it makes barriers that do nothing: the programs here must notice. */
#include <mpi.h>

int MPI_Barrier(MPI_Comm comm) {
    (void)comm;
    return MPI_SUCCESS;
}
