/* SPDX-License-Identifier: Apache-2.0
 * The Fortran names of MPI_Init of every MPI: a library in the wrong one speaks up from the start, one in the right one
 * does what its C name does. */
#include "fit.h"
#include "hooks.h"
#include "host_mpi.h"
#include "joining.h"

void tollbar_fortran_init(int* error) TOLLBAR_NAMED(mpi_init_);
void tollbar_fortran_init_f08(int* error) TOLLBAR_NAMED(mpi_init_f08_);
void tollbar_fortran_init_thread(int* required, int* provided, int* error) TOLLBAR_NAMED(mpi_init_thread_);
void tollbar_fortran_init_thread_f08(int* required, int* provided, int* error) TOLLBAR_NAMED(mpi_init_thread_f08_);

static void init(const char* name, int* error) {
    tollbar_find_fit();
    void (*next)(int*) = (void (*)(int*))tollbar_next(name);
    if (next == NULL) return;
    next(error);
    tollbar_open_office();
}

static void init_thread(const char* name, int* required, int* provided, int* error) {
    tollbar_find_fit();
    void (*next)(int*, int*, int*) = (void (*)(int*, int*, int*))tollbar_next(name);
    if (next == NULL) return;
    next(required, provided, error);
    tollbar_open_office();
}

void tollbar_fortran_init(int* error) { init("mpi_init_", error); }

void tollbar_fortran_init_f08(int* error) { init("mpi_init_f08_", error); }

void tollbar_fortran_init_thread(int* required, int* provided, int* error) {
    init_thread("mpi_init_thread_", required, provided, error);
}

void tollbar_fortran_init_thread_f08(int* required, int* provided, int* error) {
    init_thread("mpi_init_thread_f08_", required, provided, error);
}

#define TOLLBAR_INIT_TOO(name) \
    void tollbar_fortran_##name(int* error) TOLLBAR_NAMED(name) __attribute__((alias("mpi_init_")));
#define TOLLBAR_INIT_THREAD_TOO(name)                                                         \
    void tollbar_fortran_##name(int* required, int* provided, int* error) TOLLBAR_NAMED(name) \
        __attribute__((alias("mpi_init_thread_")));
TOLLBAR_INIT_TOO(mpi_init)
TOLLBAR_INIT_TOO(mpi_init__)
TOLLBAR_INIT_TOO(MPI_INIT)
TOLLBAR_INIT_THREAD_TOO(mpi_init_thread)
TOLLBAR_INIT_THREAD_TOO(mpi_init_thread__)
TOLLBAR_INIT_THREAD_TOO(MPI_INIT_THREAD)
