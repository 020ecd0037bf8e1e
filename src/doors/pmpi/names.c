/* SPDX-License-Identifier: Apache-2.0
 * The one table of names. TOLLBAR_FORTRAN ends the names that this MPI's Fortran calls: "_" or "_f08_". */
#include "names.h"

#include "transports/mpi/host_mpi.h"

#include <stdatomic.h>

static const char* const names[tollbar_names] = {
    [tollbar_of_init] = "MPI_Init",
    [tollbar_of_init_thread] = "MPI_Init_thread",
    [tollbar_of_barrier] = "MPI_Barrier",
    [tollbar_of_comm_free] = "MPI_Comm_free",
    [tollbar_of_comm_disconnect] = "MPI_Comm_disconnect",
    [tollbar_of_fortran_init] = "mpi_init_",
    [tollbar_of_fortran_init_f08] = "mpi_init_f08_",
    [tollbar_of_fortran_init_thread] = "mpi_init_thread_",
    [tollbar_of_fortran_init_thread_f08] = "mpi_init_thread_f08_",
    [tollbar_of_fortran_barrier] = "mpi_barrier" TOLLBAR_FORTRAN,
    [tollbar_of_fortran_comm_free] = "mpi_comm_free" TOLLBAR_FORTRAN,
    [tollbar_of_fortran_comm_disconnect] = "mpi_comm_disconnect" TOLLBAR_FORTRAN,
};

static _Atomic(tollbar_function) known[tollbar_names]; /* the next definitions that were found so far */

tollbar_function tollbar_next(enum tollbar_name name) {
    /* Relaxed: the address of a function is all there is to know, and every thread finds the same. */
    tollbar_function next = atomic_load_explicit(&known[name], memory_order_relaxed);
    if (next == NULL) {
        next = tollbar_next_definition(names[name]);
        atomic_store_explicit(&known[name], next, memory_order_relaxed);
    }
    return next;
}

/* Whether the first definition of the name that a program finds is in this library. */
static int comes_here(enum tollbar_name name) {
    Dl_info first, own;
    void* const found = dlsym(RTLD_DEFAULT, names[name]);
    return found != NULL && dladdr(found, &first) != 0 && dladdr((const void*)names, &own) != 0 &&
           first.dli_fbase == own.dli_fbase;
}

void tollbar_names_that_come_here(char letters[tollbar_letters_size]) {
    for (int name = 0; name < tollbar_names; ++name) letters[name] = comes_here(name) ? '+' : '-';
    letters[tollbar_names] = '\0';
}
