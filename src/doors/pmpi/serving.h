/* SPDX-License-Identifier: Apache-2.0
 * The calls that the door answers, or does its part of: the hook that CMake makes of a row of calls.txt has them where
 * it would pass the call on. */
#ifndef TOLLBAR_DOORS_PMPI_SERVING_H
#define TOLLBAR_DOORS_PMPI_SERVING_H

#include "transports/mpi/family.h"

#include <stdint.h>

/* An argument by value is a word, whatever it is in this MPI, and passed on whole. */
typedef uintptr_t word;

/* `next` is the next definition of the call's name, to be called by its own type. */
int tollbar_serve_init(tollbar_function next, const void* call_site, word argc, word argv);
int tollbar_serve_init_thread(tollbar_function next, const void* call_site, word argc, word argv, word required,
                              word provided);
int tollbar_serve_barrier(tollbar_function next, const void* call_site, word comm);
int tollbar_serve_comm_free(tollbar_function next, const void* call_site, word comm);
int tollbar_serve_comm_disconnect(tollbar_function next, const void* call_site, word comm);

/* All arguments of Fortran are addresses, and a function that takes fewer does not look at the rest. `error`, the last
 * one, may be NULL; a hook has one argument more, the length of a text. */
void tollbar_serve_fortran_init(tollbar_function next, const void* call_site, word error, word b, word c, word d);
void tollbar_serve_fortran_init_thread(tollbar_function next, const void* call_site, word required, word provided,
                                       word error, word d, word e, word f);
void tollbar_serve_fortran_barrier(tollbar_function next, const void* call_site, word comm, word error, word c);
void tollbar_serve_fortran_comm_free(tollbar_function next, const void* call_site, word comm, word error, word c);
void tollbar_serve_fortran_comm_disconnect(tollbar_function next, const void* call_site, word comm, word error, word c);

#endif
