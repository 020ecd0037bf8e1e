/* SPDX-License-Identifier: Apache-2.0
 * Joins at the first barrier of a communicator, keeps what belongs to it as its attribute, and cleans up with it. */
#include "communicator.h"

#include "everybody.h"
#include "host_mpi.h"
#include "persistent.h"
#include "request.h"

#include "runtime/environment.h"
#include "runtime/say.h"

#include <pthread.h>
#include <stdlib.h>

_Thread_local struct tollbar_remembered tollbar_remembered;
_Atomic uint64_t tollbar_freed = 1;

static int ready; /* between MPI_Init and MPI_Finalize where every rank has this library */
static int keyval;

/* All there are, so that MPI_Finalize finds them, and what they had counted when they went. */
static pthread_mutex_t all_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct tollbar_communicator* all;
static uint64_t barriers_before;
static uint64_t ibarriers_before;

static int copy_nothing(MPI_Comm comm, int key, void* extra, void* value, void* copy, int* copied) {
    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    *copied = 0;
    return MPI_SUCCESS;
}

static void leave(struct tollbar_communicator* self) {
    barriers_before += self->barriers;
    ibarriers_before += self->ibarriers;
    self->barriers = self->ibarriers = 0;
    tollbar_leave(&self->joined);
}

static void unlink_and_free(struct tollbar_communicator* self) {
    leave(self);
    if (self->previous != NULL) self->previous->next = self->next;
    if (self->next != NULL) self->next->previous = self->previous;
    if (all == self) all = self->next;
    free(self);
}

/* Acquire: pairs with the end of the last pending one, and with the giving back of the last handle. */
static int is_held(struct tollbar_communicator* self) {
    return atomic_load_explicit(&self->joined.handles, memory_order_acquire) != 0 ||
           tollbar_row_is_pending(&self->joined.row);
}

/* It was freed. */
static void let_go(struct tollbar_communicator* self) {
    pthread_mutex_lock(&all_mutex);
    if (is_held(self))
        self->freed = 1;
    else
        unlink_and_free(self);
    pthread_mutex_unlock(&all_mutex);
}

static void forget_remembered(void) {
    /* Relaxed: whoever gets the handle anew gets it after this in the MPI's own order. */
    atomic_fetch_add_explicit(&tollbar_freed, 1, memory_order_relaxed);
}

static _Thread_local struct tollbar_freeing* freeing; /* the innermost one */

static struct tollbar_freeing* freeing_of(MPI_Comm comm) {
    struct tollbar_freeing* one = freeing;
    while (one != NULL && one->comm != comm) one = one->outer;
    return one;
}

void tollbar_begin_freeing(struct tollbar_freeing* self, const MPI_Comm* comm) {
    *self = (struct tollbar_freeing){.comm = ready && comm != NULL ? *comm : MPI_COMM_NULL, .outer = freeing};
    freeing = self;
}

void tollbar_end_freeing(struct tollbar_freeing* self) {
    freeing = self->outer;
    if (self->kept == NULL) return;
    forget_remembered();
    let_go(self->kept);
}

/* The attribute goes. */
static int forget(MPI_Comm comm, int key, void* value, void* extra) {
    (void)key, (void)extra;
    struct tollbar_communicator* self = value;
    struct tollbar_freeing* by = freeing_of(comm);
    forget_remembered();
    tollbar_requests_finish_passed(&self->joined);
    tollbar_persistent_finish_passed(&self->joined);
    tollbar_watch_no_more(&self->joined);
    if (by != NULL)
        by->kept = self;
    else
        let_go(self); /* by a profiling name */
    return MPI_SUCCESS;
}

void tollbar_release_freed(void) {
    pthread_mutex_lock(&all_mutex);
    for (struct tollbar_communicator *one = all, *next; one != NULL; one = next) {
        next = one->next;
        if (one->freed && !is_held(one)) unlink_and_free(one);
    }
    pthread_mutex_unlock(&all_mutex);
}

static void say_counts(void) {
    int rank = 0;
    if (tollbar_verbosity() < 2) return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    tollbar_say("rank %d: %llu barriers, %llu ibarriers, %llu persistent", rank, (unsigned long long)barriers_before,
                (unsigned long long)ibarriers_before, (unsigned long long)tollbar_persistent_count());
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while everything still works, and of these, from the last
 * to the first, this one at the end. */
static int finish(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    ready = 0;
    forget_remembered();
    tollbar_requests_finish();
    tollbar_persistent_finish();
    pthread_mutex_lock(&all_mutex);
    for (struct tollbar_communicator* one = all; one != NULL; one = one->next) leave(one);
    pthread_mutex_unlock(&all_mutex);
    tollbar_close_private_comm();
    say_counts();
    return MPI_SUCCESS;
}

static int make_keys(void) {
    int at_end = 0;
    return PMPI_Comm_create_keyval(copy_nothing, forget, &keyval, NULL) == MPI_SUCCESS &&
           PMPI_Comm_create_keyval(copy_nothing, finish, &at_end, NULL) == MPI_SUCCESS &&
           PMPI_Comm_set_attr(MPI_COMM_SELF, at_end, NULL) == MPI_SUCCESS;
}

void tollbar_open(void) {
    static int tried; /* a Fortran name may have called the C name */
    int level = MPI_THREAD_SINGLE;
    if (tried || !tollbar_fits()) return;
    tried = 1;
    const int able = PMPI_Query_thread(&level) == MPI_SUCCESS && make_keys();
    if (!tollbar_everybody_is_here(able)) return;
    tollbar_threaded = level == MPI_THREAD_MULTIPLE;
    tollbar_open_private_comm(level);
    tollbar_everybody_knows();
    ready = 1;
}

static struct tollbar_communicator* make(MPI_Comm comm) {
    struct tollbar_communicator* self = calloc(1, sizeof *self);
    if (self == NULL) return NULL;
    pthread_mutex_lock(&all_mutex);
    self->next = all;
    if (all != NULL) all->previous = self;
    all = self;
    pthread_mutex_unlock(&all_mutex);
    struct tollbar_freeing* by = freeing_of(comm);
    if (by != NULL)
        by->kept = self; /* it is too late for an attribute */
    else
        PMPI_Comm_set_attr(comm, keyval, self);
    return self;
}

/* NULL when it has none yet, which `usable` tells from a communicator that cannot have any. */
static struct tollbar_communicator* find(MPI_Comm comm, int* usable) {
    struct tollbar_communicator* self = NULL;
    int found = 0;
    *usable = 0;
    if (!ready || comm == MPI_COMM_NULL) return NULL;
    *usable = PMPI_Comm_get_attr(comm, keyval, &self, &found) == MPI_SUCCESS;
    if (!*usable || found) return *usable ? self : NULL;
    const struct tollbar_freeing* by = freeing_of(comm);
    return by != NULL ? by->kept : NULL;
}

struct tollbar_communicator* tollbar_record_of(MPI_Comm comm) {
    int usable;
    struct tollbar_communicator* self = find(comm, &usable);
    return self != NULL || !usable ? self : make(comm);
}

struct tollbar_communicator* tollbar_look_up(MPI_Comm comm, int with_join, struct tollbar_first* first) {
    int usable;
    struct tollbar_communicator* self = find(comm, &usable);
    if (!usable || (!with_join && (self == NULL || !self->tried))) return NULL;
    if (self == NULL) {
        tollbar_release_freed();
        self = make(comm);
        if (self == NULL) return NULL;
    }
    const int joins = !self->tried;
    if (joins) first->error = tollbar_join(comm, &self->joined, first);
    self->tried = 1;
    if (self->joined.row.participant == NULL) self = NULL;
    if (joins) first->met = self != NULL;
    tollbar_remembered = (struct tollbar_remembered){comm, atomic_load_explicit(&tollbar_freed, memory_order_relaxed),
                                                     self};
    return self;
}
