/* SPDX-License-Identifier: Apache-2.0
 * Says which names a rank asks the launcher to keep or to forget. */
#include <mpi.h>
#include <stdio.h>

int PMPI_Publish_name(const char* name, MPI_Info info, const char* port) {
    (void)info, (void)port;
    fprintf(stderr, "kept: %s\n", name);
    return MPI_ERR_NAME;
}

int PMPI_Unpublish_name(const char* name, MPI_Info info, const char* port) {
    (void)info, (void)port;
    fprintf(stderr, "forgotten: %s\n", name);
    return MPI_ERR_NAME;
}
