/* SPDX-License-Identifier: Apache-2.0
 * Rank 2 does not come to a collective call. Rank 1 does, and gets no further than to the first question that the watch
 * has for the MPI, as where other threads hold the MPI's own lock.
 *
 * usage: asking PAGE */
#include "toll.h"

#include <dlfcn.h>

static atomic_int is_held;

/* In the place of the MPI's own. */
int PMPI_Type_size(MPI_Datatype type, int* size) {
    int (*const own)(MPI_Datatype, int*) = (int (*)(MPI_Datatype, int*))dlsym(RTLD_NEXT, "PMPI_Type_size");
    if (atomic_load(&is_held)) toll_await(&toll_page->told, 1);
    return own(type, size);
}

int main(int argc, char** argv) {
    float in = 0, out = 0;
    double first = 0;
    MPI_Init(&argc, &argv);
    toll_start(argv);
    MPI_Bcast(&first, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    atomic_store(&is_held, toll_rank == 1);
    if (toll_rank == 2) toll_await(&toll_page->told, 1);
    MPI_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return toll_end();
}
