/* SPDX-License-Identifier: Apache-2.0
 * The names of every call that comes here, of C and of Fortran, and where a call goes on: to the next definition of its
 * name after this library's own, a tool's that was loaded behind it, else the MPI's. */
#ifndef TOLLBAR_DOORS_PMPI_NAMES_H
#define TOLLBAR_DOORS_PMPI_NAMES_H

#include "transports/mpi/family.h"

enum tollbar_name {
    tollbar_of_init,
    tollbar_of_init_thread,
    tollbar_of_barrier,
    tollbar_of_comm_free,
    tollbar_of_comm_disconnect,
    tollbar_of_fortran_init,
    tollbar_of_fortran_init_f08,
    tollbar_of_fortran_init_thread,
    tollbar_of_fortran_init_thread_f08,
    tollbar_of_fortran_barrier,
    tollbar_of_fortran_comm_free,
    tollbar_of_fortran_comm_disconnect,
    tollbar_names
};

/* The next definition of the name, to be called by its own type; NULL when there is none. The program's MPI is loaded:
 * a program may open it long after this library. */
tollbar_function tollbar_next(enum tollbar_name name);

/* A letter for each name: '+' where the program's calls of it come here first, '-' where they do not, because a tool
 * ahead of this library has the name. */
enum { tollbar_letters_size = tollbar_names + 1 };
void tollbar_names_that_come_here(char letters[tollbar_letters_size]);

#endif
