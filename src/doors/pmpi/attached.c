/* SPDX-License-Identifier: Apache-2.0
 * Attaches to a communicator at its first barrier, and detaches when it is freed or the program ends. */
#include "attached.h"

#include "everybody.h"

#include "base/environment.h"
#include "base/say.h"
#include "transports/mpi/host_mpi.h"

#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Thread_local struct tollbar_remembered tollbar_remembered;
_Atomic uint64_t tollbar_freed = 1;

int tollbar_several_threads;

static int ready; /* between MPI_Init and MPI_Finalize where every rank has this library */
static int keyval;

/* All that are attached, so that MPI_Finalize finds them, and how many barriers detached ones had made. */
static pthread_mutex_t all_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct tollbar_attached* all;
static uint64_t barriers_before;

/* A thread is in the first barrier of a communicator; others wait for its end. */
struct first_one {
    MPI_Comm comm;
    struct first_one* next;
};
static struct first_one* first_ones; /* under all_mutex */
static pthread_cond_t one_is_over = PTHREAD_COND_INITIALIZER;

static int copy_nothing(MPI_Comm comm, int key, void* extra, void* value, void* copy, int* copied) {
    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    *copied = 0;
    return MPI_SUCCESS;
}

/* Under the mutex. */
static void leave(struct tollbar_attached* self) {
    barriers_before += self->barriers;
    self->barriers = 0;
    tollbar_leave(&self->joined);
}

static void detach(struct tollbar_attached* self) {
    pthread_mutex_lock(&all_mutex);
    leave(self);
    if (self->previous != NULL) self->previous->next = self->next;
    if (self->next != NULL) self->next->previous = self->previous;
    if (all == self) all = self->next;
    pthread_mutex_unlock(&all_mutex);
    pthread_mutex_destroy(&self->turn);
    free(self);
}

static void forget_remembered(void) {
    /* Relaxed: a thread that gets the handle anew gets it after this in the MPI's own order. */
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
    detach(self->kept);
}

/* The attribute is deleted: by MPI_Comm_free, or by its profiling name, which comes past our hooks. */
static int forget(MPI_Comm comm, int key, void* value, void* extra) {
    (void)key, (void)extra;
    struct tollbar_attached* self = value;
    struct tollbar_freeing* by = freeing_of(comm);
    forget_remembered();
    tollbar_watch_no_more(&self->joined);
    if (by != NULL)
        by->kept = self;
    else
        detach(self);
    return MPI_SUCCESS;
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while everything still works, and of these, from the last
 * to the first, this one at the end. */
static int finish(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    int rank = 0;
    ready = 0;
    forget_remembered();
    pthread_mutex_lock(&all_mutex);
    for (struct tollbar_attached* one = all; one != NULL; one = one->next) leave(one);
    pthread_mutex_unlock(&all_mutex);
    tollbar_close_private_comm();
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (tollbar_verbosity() >= 2) tollbar_say("rank %d: %llu barriers", rank, (unsigned long long)barriers_before);
    return MPI_SUCCESS;
}

static int make_keys(void) {
    int at_end = 0;
    return PMPI_Comm_create_keyval(copy_nothing, forget, &keyval, NULL) == MPI_SUCCESS &&
           PMPI_Comm_create_keyval(copy_nothing, finish, &at_end, NULL) == MPI_SUCCESS &&
           PMPI_Comm_set_attr(MPI_COMM_SELF, at_end, NULL) == MPI_SUCCESS;
}

static int is_component(struct dl_phdr_info* info, size_t size, void* unused) {
    (void)size, (void)unused;
    return strstr(info->dlpi_name, "/mca_coll_tollbar.so") != NULL;
}

/* Open MPI has loaded the component, which serves more calls than a preload can. */
static int is_left_to_component(void) { return dl_iterate_phdr(is_component, NULL) != 0; }

void tollbar_open(void) {
    static int tried; /* a Fortran name may have called the C name */
    int level = MPI_THREAD_SINGLE;
    if (tried || !tollbar_fits()) return;
    tried = 1;
    if (is_left_to_component()) return;
    const int able = PMPI_Query_thread(&level) == MPI_SUCCESS && make_keys();
    if (!tollbar_everybody_is_here(able)) return;
    tollbar_open_private_comm(level);
    tollbar_several_threads = level == MPI_THREAD_MULTIPLE;
    tollbar_everybody_knows();
    ready = 1;
}

static struct tollbar_attached* attach(MPI_Comm comm) {
    struct tollbar_attached* self = calloc(1, sizeof *self);
    if (self == NULL) return NULL;
    pthread_mutex_init(&self->turn, NULL);
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

/* NULL when nothing is attached yet. */
static struct tollbar_attached* find(MPI_Comm comm, int* usable) {
    struct tollbar_attached* self = NULL;
    int found = 0;
    *usable = ready && comm != MPI_COMM_NULL && PMPI_Comm_get_attr(comm, keyval, &self, &found) == MPI_SUCCESS;
    if (!*usable || found) return *usable ? self : NULL;
    const struct tollbar_freeing* by = freeing_of(comm);
    return by != NULL ? by->kept : NULL;
}

static int is_first(MPI_Comm comm) {
    const struct first_one* one = first_ones;
    while (one != NULL && one->comm != comm) one = one->next;
    return one != NULL;
}

static void begin_first(struct first_one* self) {
    pthread_mutex_lock(&all_mutex);
    while (is_first(self->comm)) pthread_cond_wait(&one_is_over, &all_mutex);
    self->next = first_ones;
    first_ones = self;
    pthread_mutex_unlock(&all_mutex);
}

static void end_first(const struct first_one* self) {
    pthread_mutex_lock(&all_mutex);
    struct first_one** at = &first_ones;
    while (*at != self) at = &(*at)->next;
    *at = self->next;
    pthread_cond_broadcast(&one_is_over);
    pthread_mutex_unlock(&all_mutex);
}

/* The communicator's own, which this may be the first barrier to make; NULL where that cannot be. */
static struct tollbar_attached* found_or_made(MPI_Comm comm, struct tollbar_first* first) {
    int usable;
    struct tollbar_attached* self = find(comm, &usable);
    if (!usable || self != NULL) return self;
    self = attach(comm);
    if (self == NULL) return NULL;
    first->error = tollbar_join(comm, &self->joined, first->call_site);
    first->met = self->joined.participant != NULL;
    return self;
}

struct tollbar_attached* tollbar_look_up(MPI_Comm comm, struct tollbar_first* first) {
    struct first_one one = {.comm = comm};
    if (tollbar_several_threads) begin_first(&one);
    struct tollbar_attached* self = found_or_made(comm, first);
    if (tollbar_several_threads) end_first(&one);
    if (self == NULL) return NULL;
    if (self->joined.participant == NULL) self = NULL;
    tollbar_remembered = (struct tollbar_remembered){comm, atomic_load_explicit(&tollbar_freed, memory_order_relaxed),
                                                     self};
    return self;
}
