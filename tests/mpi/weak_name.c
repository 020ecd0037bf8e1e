/* SPDX-License-Identifier: Apache-2.0
 * A program that calls what its MPI may lack, if it finds that, as mpi4py's wheel does.
 *
 * usage: weak_name */
#include <mpi.h>
#include <stdio.h>

int MPI_Later(MPI_Comm comm) __asm__("MPI_Comm_create_from_group") __attribute__((weak));

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int code = MPI_Later == NULL ? 0 : MPI_Later(MPI_COMM_SELF);
    printf("%s\n", MPI_Later == NULL ? "not there" : code == 0 ? "done" : "refused");
    MPI_Finalize();
    return 0;
}
