/* SPDX-License-Identifier: Apache-2.0
 * Open MPI's Fortran names of persistent barriers: Open MPI 4 has the first as an extension, Open MPI 5 as the standard
 * does. None comes by the C name. */
#include "fortran_persistent.h"
#include "hooks.h"

void tollbar_fortran_barrier_init(int* comm, int* info, int* request, int* error) TOLLBAR_NAMED(mpi_barrier_init_);
void tollbar_fortran_extension(int* comm, int* info, int* request, int* error) TOLLBAR_NAMED(mpix_barrier_init_);
void tollbar_fortran_start(int* request, int* error) TOLLBAR_NAMED(mpi_start_);
void tollbar_fortran_startall(int* count, int* requests, int* error) TOLLBAR_NAMED(mpi_startall_);
void tollbar_fortran_request_free(int* request, int* error) TOLLBAR_NAMED(mpi_request_free_);

void tollbar_fortran_barrier_init(int* comm, int* info, int* request, int* error) {
    tollbar_fortran_do_barrier_init("mpi_barrier_init_", comm, info, request, error);
}

void tollbar_fortran_extension(int* comm, int* info, int* request, int* error) {
    tollbar_fortran_do_barrier_init("mpix_barrier_init_", comm, info, request, error);
}

void tollbar_fortran_start(int* request, int* error) {
    tollbar_fortran_do_start("mpi_start_", request, error, __builtin_return_address(0));
}

void tollbar_fortran_startall(int* count, int* requests, int* error) {
    tollbar_fortran_do_startall("mpi_startall_", count, requests, error, __builtin_return_address(0));
}

void tollbar_fortran_request_free(int* request, int* error) {
    tollbar_fortran_do_request_free("mpi_request_free_", request, error);
}

/* The other spellings are the same functions, as in Open MPI itself. */
#define TOLLBAR_INIT_TOO(name, first)                                                               \
    void tollbar_fortran_##name(int* comm, int* info, int* request, int* error) TOLLBAR_NAMED(name) \
        __attribute__((alias(#first)));
#define TOLLBAR_REQUEST_TOO(name, first) \
    void tollbar_fortran_##name(int* request, int* error) TOLLBAR_NAMED(name) __attribute__((alias(#first)));
#define TOLLBAR_STARTALL_TOO(name)                                                         \
    void tollbar_fortran_##name(int* count, int* requests, int* error) TOLLBAR_NAMED(name) \
        __attribute__((alias("mpi_startall_")));
TOLLBAR_INIT_TOO(mpi_barrier_init, mpi_barrier_init_)
TOLLBAR_INIT_TOO(mpi_barrier_init__, mpi_barrier_init_)
TOLLBAR_INIT_TOO(MPI_BARRIER_INIT, mpi_barrier_init_)
TOLLBAR_INIT_TOO(ompi_barrier_init_f, mpi_barrier_init_)
TOLLBAR_INIT_TOO(mpix_barrier_init, mpix_barrier_init_)
TOLLBAR_INIT_TOO(mpix_barrier_init__, mpix_barrier_init_)
TOLLBAR_INIT_TOO(MPIX_BARRIER_INIT, mpix_barrier_init_)
TOLLBAR_INIT_TOO(ompix_barrier_init_f, mpix_barrier_init_)
TOLLBAR_REQUEST_TOO(mpi_start, mpi_start_)
TOLLBAR_REQUEST_TOO(mpi_start__, mpi_start_)
TOLLBAR_REQUEST_TOO(MPI_START, mpi_start_)
TOLLBAR_REQUEST_TOO(ompi_start_f, mpi_start_)
TOLLBAR_REQUEST_TOO(mpi_request_free, mpi_request_free_)
TOLLBAR_REQUEST_TOO(mpi_request_free__, mpi_request_free_)
TOLLBAR_REQUEST_TOO(MPI_REQUEST_FREE, mpi_request_free_)
TOLLBAR_REQUEST_TOO(ompi_request_free_f, mpi_request_free_)
TOLLBAR_STARTALL_TOO(mpi_startall)
TOLLBAR_STARTALL_TOO(mpi_startall__)
TOLLBAR_STARTALL_TOO(MPI_STARTALL)
TOLLBAR_STARTALL_TOO(ompi_startall_f)
