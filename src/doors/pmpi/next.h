/* SPDX-License-Identifier: Apache-2.0
 * Where a call goes on that tollbar does not do itself: to the next definition of its name after this library's own, a
 * tool's that was loaded behind it, else the MPI's. */
#ifndef TOLLBAR_DOORS_PMPI_NEXT_H
#define TOLLBAR_DOORS_PMPI_NEXT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

/* One for each C name that is hooked. A handle by value is a word: in the wrong MPI it is of another size, and passed
 * on whole. An MPI may lack the last four. */
struct tollbar_calls {
    int (*init)(int*, char***);
    int (*init_thread)(int*, char***, int, int*);
    int (*barrier)(uintptr_t);
    int (*ibarrier)(uintptr_t, void*);
    int (*start)(MPI_Request*);
    int (*startall)(int, MPI_Request*);
    int (*request_free)(MPI_Request*);
    int (*comm_free)(MPI_Comm*);
    int (*comm_disconnect)(MPI_Comm*);
    int (*wait)(MPI_Request*, MPI_Status*);
    int (*waitall)(int, MPI_Request*, MPI_Status*);
    int (*waitany)(int, MPI_Request*, int*, MPI_Status*);
    int (*waitsome)(int, MPI_Request*, int*, int*, MPI_Status*);
    int (*test)(MPI_Request*, int*, MPI_Status*);
    int (*testall)(int, MPI_Request*, int*, MPI_Status*);
    int (*testany)(int, MPI_Request*, int*, int*, MPI_Status*);
    int (*testsome)(int, MPI_Request*, int*, int*, MPI_Status*);
    int (*get_status)(uintptr_t, int*, void*);
    int (*barrier_init)(uintptr_t, uintptr_t, void*);
    int (*get_status_all)(int, const MPI_Request*, int*, MPI_Status*);
    int (*get_status_any)(int, const MPI_Request*, int*, int*, MPI_Status*);
    int (*get_status_some)(int, const MPI_Request*, int*, int*, MPI_Status*);
};

extern _Atomic int tollbar_next_is_known;
extern struct tollbar_calls tollbar_next_calls;

/* Looks for them; the program's MPI is loaded. */
void tollbar_find_next(void);

static inline const struct tollbar_calls* tollbar_next(void) {
    /* Acquire: pairs with the release where they are found. */
    if (!atomic_load_explicit(&tollbar_next_is_known, memory_order_acquire)) tollbar_find_next();
    return &tollbar_next_calls;
}

/* A letter for each hooked name: '+' where the program's calls of it come here first, '-' where they do not, because a
 * tool ahead of this library has the name. */
enum { tollbar_names_size = 40 };
void tollbar_names_that_come_here(char text[tollbar_names_size]);

/* Whether the program's persistent barriers come here whatever it does with them. */
int tollbar_persistent_calls_come_here(void);

#endif
