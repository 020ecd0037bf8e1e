/* SPDX-License-Identifier: Apache-2.0
 * What this library keeps for each communicator, from its first MPI_Barrier until MPI_Comm_free or MPI_Finalize. */
#ifndef TOLLBAR_DOORS_PMPI_COMMUNICATOR_H
#define TOLLBAR_DOORS_PMPI_COMMUNICATOR_H

#include "joining.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

struct tollbar_communicator {
    struct tollbar_joined joined; /* without a participant calls are passed on to the MPI */
    int tried;                    /* its first barrier was made */
    int freed;                    /* by the user, while some were pending or handles were left */
    uint64_t barriers;
    uint64_t ibarriers;
    struct tollbar_communicator* next;
    struct tollbar_communicator* previous;
};

/* The communicator used last by this thread. A handle may come back as another communicator's once something was
 * freed, so that what is remembered counts only as long as nothing was. */
struct tollbar_remembered {
    MPI_Comm comm;
    uint64_t freed_before;
    struct tollbar_communicator* communicator;
};
extern _Thread_local struct tollbar_remembered tollbar_remembered;
extern _Atomic uint64_t tollbar_freed; /* how many communicators were freed, plus one */

/* Right after MPI_Init. On a rank that does not call it, and then on all, the MPI does every barrier. */
void tollbar_open(void);

/* The slow half of the function below. */
struct tollbar_communicator* tollbar_look_up(MPI_Comm comm, int join, struct tollbar_first* first);

/* What is kept for it; NULL when the MPI has to do the barrier. With `join` it is made in the communicator's first
 * barrier, which is collective (and `first` not NULL); else this is local, and NULL when
 * no barrier was made yet. */
static inline struct tollbar_communicator* tollbar_communicator_of(MPI_Comm comm, int join,
                                                                   struct tollbar_first* first) {
    const struct tollbar_remembered* last = &tollbar_remembered;
    if (last->comm == comm && last->freed_before == atomic_load_explicit(&tollbar_freed, memory_order_relaxed))
        return last->communicator;
    return tollbar_look_up(comm, join, first);
}

/* What is kept for it, whoever does its barriers; local. NULL where nothing can be kept. */
struct tollbar_communicator* tollbar_record_of(MPI_Comm comm);

/* A communicator that this thread is freeing: it goes on as it was until that is done, for what hangs on it may make
 * barriers of it, before or after our own attribute goes. */
struct tollbar_freeing {
    MPI_Comm comm;
    struct tollbar_communicator* kept;
    struct tollbar_freeing* outer;
};

/* Around what frees a communicator, which may be none. */
void tollbar_begin_freeing(struct tollbar_freeing* self, const MPI_Comm* comm);
void tollbar_end_freeing(struct tollbar_freeing* self);

/* Lets go of communicators that were freed while something needed them. */
void tollbar_release_freed(void);

#endif
