/* SPDX-License-Identifier: Apache-2.0
 * The state that this library keeps for each communicator, as its attribute, from its first MPI_Barrier until it is
 * freed or MPI_Finalize. */
#ifndef TOLLBAR_DOORS_PMPI_ATTACHED_H
#define TOLLBAR_DOORS_PMPI_ATTACHED_H

#include "joining.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct tollbar_attached {
    struct tollbar_joined joined; /* without a participant the MPI does the barriers */
    pthread_mutex_t turn;         /* of the thread in a barrier, where there may be several */
    uint64_t barriers;
    struct tollbar_attached* next;
    struct tollbar_attached* previous;
};

/* The communicator used last by this thread. The MPI may give the handle of a freed communicator to another one, so
 * this counts only as long as none was freed. */
struct tollbar_remembered {
    MPI_Comm comm;
    uint64_t freed_before;
    struct tollbar_attached* attached;
};
extern _Thread_local struct tollbar_remembered tollbar_remembered;
extern _Atomic uint64_t tollbar_freed; /* how many communicators were freed, plus one */

/* Threads may be in the MPI at once. A program must not have two of them in one communicator's collective calls, but
 * one that does comes through with its MPI's own barrier: here they take turns. */
extern int tollbar_several_threads;

/* Right after MPI_Init; collective. On a rank that does not call it, and then on all, the MPI does every barrier. */
void tollbar_open(void);

/* The slow half of the function below. */
struct tollbar_attached* tollbar_look_up(MPI_Comm comm, struct tollbar_first* first);

/* In a barrier of the communicator; collective. Returns what is attached to it, which its first barrier makes and
 * joins; NULL when the MPI has to do the barrier. */
static inline struct tollbar_attached* tollbar_attached_to(MPI_Comm comm, struct tollbar_first* first) {
    const struct tollbar_remembered* last = &tollbar_remembered;
    if (last->comm == comm && last->freed_before == atomic_load_explicit(&tollbar_freed, memory_order_relaxed))
        return last->attached;
    return tollbar_look_up(comm, first);
}

/* A communicator that this thread is freeing. It stays as it was until that is done: other attributes of it may make
 * barriers when they are deleted, before or after our own one. */
struct tollbar_freeing {
    MPI_Comm comm;
    struct tollbar_attached* kept;
    struct tollbar_freeing* outer;
};

/* Around what frees a communicator, which may be none. */
void tollbar_begin_freeing(struct tollbar_freeing* self, const MPI_Comm* comm);
void tollbar_end_freeing(struct tollbar_freeing* self);

#endif
