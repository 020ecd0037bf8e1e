/* SPDX-License-Identifier: Apache-2.0
 * An error of no communicator goes to where the program has it go: in MPI 3 to the handler of MPI_COMM_WORLD, in MPI 4
 * to that of MPI_COMM_SELF, and with some MPIs to that of MPI_COMM_WORLD as long as MPI_COMM_SELF was given none.
 *
 * usage: errors PAGE */
#include "toll.h"

int main(int argc, char** argv) {
    int size;
    MPI_Init(&argc, &argv);
    toll_start(argv);
    struct toll toll = toll_open(MPI_COMM_WORLD, 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    toll_expect(MPI_Type_size(MPI_DATATYPE_NULL, &size) != MPI_SUCCESS);
    toll_barrier(&toll, 0);
    toll_expect(MPI_Type_size(MPI_DATATYPE_NULL, &size) != MPI_SUCCESS);
    return toll_end();
}
