/* SPDX-License-Identifier: Apache-2.0
 * Joins at the first barrier of a communicator, keeps what belongs to it as its attribute, and cleans up with it. */
#include "communicator.h"

#include "host_mpi.h"
#include "pending.h"
#include "transports/mpi/pmpi_carrier.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

_Thread_local struct tollbar_remembered tollbar_remembered;
_Atomic uint64_t tollbar_freed = 1;
int tollbar_threaded;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int ready; /* between the first barrier and MPI_Finalize */
static int keyval;
static void (*progress_of_mpi)(void*);

/* All ranks of MPI_COMM_WORLD, for nobody's messages but ours. Set to use when no rank has several threads in the MPI
 * at once, see tollbar_pmpi_carrier_open_through(). */
static MPI_Comm office;
static int office_is_open;

/* All there are, so that MPI_Finalize finds them, and what they had counted when they went. */
static pthread_mutex_t all_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct tollbar_communicator* all;
static uint64_t barriers_before;
static uint64_t ibarriers_before;

static void progress(void* state) {
    progress_of_mpi(state);
    if (tollbar_anything_pending()) tollbar_pending_advance();
}

static int copy_nothing(MPI_Comm comm, int key, void* extra, void* value, void* copy, int* copied) {
    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    *copied = 0;
    return MPI_SUCCESS;
}

/* Gives back everything of the MPI's and of the participant's; the struct stays. */
static void leave(struct tollbar_communicator* self) {
    barriers_before += self->barriers;
    ibarriers_before += self->ibarriers;
    self->barriers = self->ibarriers = 0;
    if (self->participant == NULL) return;
    tollbar_mpi_leave(self->participant);
    self->participant = NULL;
    tollbar_pmpi_carrier_close(&self->carrier);
    if (self->messages != MPI_COMM_NULL) PMPI_Comm_free(&self->messages);
}

static void unlink_and_free(struct tollbar_communicator* self) {
    leave(self);
    if (self->previous != NULL) self->previous->next = self->next;
    if (self->next != NULL) self->next->previous = self->previous;
    if (all == self) all = self->next;
    free(self);
}

/* MPI_Comm_free was called for it. */
static int forget(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    struct tollbar_communicator* self = value;
    /* Relaxed: whoever gets the handle anew gets it after this in the MPI's own order. */
    atomic_fetch_add_explicit(&tollbar_freed, 1, memory_order_relaxed);
    tollbar_pending_finish_passed(self);
    pthread_mutex_lock(&all_mutex);
    if (atomic_load_explicit(&self->pending, memory_order_acquire) != 0) /* pairs with the end of the last one */
        self->freed = 1;
    else
        unlink_and_free(self);
    pthread_mutex_unlock(&all_mutex);
    return MPI_SUCCESS;
}

void tollbar_release_freed(void) {
    pthread_mutex_lock(&all_mutex);
    for (struct tollbar_communicator *one = all, *next; one != NULL; one = next) {
        next = one->next;
        if (one->freed && atomic_load_explicit(&one->pending, memory_order_acquire) == 0) unlink_and_free(one);
    }
    pthread_mutex_unlock(&all_mutex);
}

static void say_counts(void) {
    int rank = 0;
    const char* verbose = getenv("TOLLBAR_VERBOSE");
    if (verbose == NULL || atoi(verbose) < 2) return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "tollbar: rank %d: %llu barriers, %llu ibarriers\n", rank, (unsigned long long)barriers_before,
            (unsigned long long)ibarriers_before);
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while everything still works. */
static int finish(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    ready = 0;
    atomic_fetch_add_explicit(&tollbar_freed, 1, memory_order_relaxed); /* as in forget() */
    tollbar_pending_finish();
    pthread_mutex_lock(&all_mutex);
    for (struct tollbar_communicator* one = all; one != NULL; one = one->next) leave(one);
    pthread_mutex_unlock(&all_mutex);
    if (office_is_open) PMPI_Comm_free(&office);
    office_is_open = 0;
    say_counts();
    return MPI_SUCCESS;
}

static void prepare(void) {
    int initialized = 0, level = MPI_THREAD_SINGLE, at_end = 0;
    if (!tollbar_fits() || PMPI_Initialized(&initialized) != MPI_SUCCESS || !initialized) return;
    PMPI_Query_thread(&level);
    tollbar_threaded = level == MPI_THREAD_MULTIPLE;
    ready = PMPI_Comm_create_keyval(copy_nothing, forget, &keyval, NULL) == MPI_SUCCESS &&
            PMPI_Comm_create_keyval(copy_nothing, finish, &at_end, NULL) == MPI_SUCCESS &&
            PMPI_Comm_set_attr(MPI_COMM_SELF, at_end, NULL) == MPI_SUCCESS;
}

void tollbar_open_office(void) {
    int level = MPI_THREAD_SINGLE, highest = MPI_THREAD_MULTIPLE;
    static int tried; /* a Fortran name may have called the C name */
    if (tried || !tollbar_fits() || PMPI_Query_thread(&level) != MPI_SUCCESS) return;
    tried = 1;
    if (PMPI_Allreduce(&level, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD) != MPI_SUCCESS) return;
    if (highest == MPI_THREAD_MULTIPLE || PMPI_Comm_dup(MPI_COMM_WORLD, &office) != MPI_SUCCESS) return;
    PMPI_Comm_set_errhandler(office, MPI_ERRORS_RETURN);
    office_is_open = 1;
}

/* Through the office if it reaches all ranks; else they get a communicator of their own. Unlike MPI_Comm_dup its making
 * calls no copy function of the user's. */
static int open_carrier(MPI_Comm comm, struct tollbar_communicator* self) {
    self->messages = MPI_COMM_NULL;
    if (office_is_open && tollbar_pmpi_carrier_open_through(comm, office, &self->carrier) == MPI_SUCCESS) return 1;
    MPI_Group group;
    PMPI_Comm_group(comm, &group);
    const int refused = PMPI_Comm_create(comm, group, &self->messages);
    PMPI_Group_free(&group);
    if (refused != MPI_SUCCESS) return 0;
    if (tollbar_pmpi_carrier_open(self->messages, &self->carrier) == MPI_SUCCESS) return 1;
    PMPI_Comm_free(&self->messages);
    return 0;
}

/* Every rank of the communicator does the same here, or all of them leave it to the MPI. */
static void join(MPI_Comm comm, struct tollbar_communicator* self) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int between_groups = 0, ranks = 0, length = 0;
    PMPI_Comm_test_inter(comm, &between_groups);
    PMPI_Comm_size(comm, &ranks);
    if (between_groups || ranks < 2 || !open_carrier(comm, self)) return;
    progress_of_mpi = self->carrier.progress;
    self->carrier.progress = progress;
    PMPI_Comm_get_name(comm, name, &length);
    const struct tollbar_mpi_options options = {
        .name = name, .mpi = tollbar_mpi_key(), .budget_ms = -1, .timeout_s = -1};
    if (tollbar_mpi_join(&self->carrier, &options, &self->participant) == 0) {
        self->splits_phases = tollbar_mpi_needs_no_calls(self->participant) && tollbar_requests_can_be_had();
        return;
    }
    self->participant = NULL;
    tollbar_pmpi_carrier_close(&self->carrier);
    if (self->messages != MPI_COMM_NULL) PMPI_Comm_free(&self->messages);
}

static struct tollbar_communicator* make(MPI_Comm comm) {
    struct tollbar_communicator* self = calloc(1, sizeof *self);
    if (self == NULL) return NULL;
    pthread_mutex_lock(&all_mutex);
    self->next = all;
    if (all != NULL) all->previous = self;
    all = self;
    pthread_mutex_unlock(&all_mutex);
    PMPI_Comm_set_attr(comm, keyval, self);
    return self;
}

/* NULL when it has none yet, which `usable` tells from a communicator that cannot have any. */
static struct tollbar_communicator* find(MPI_Comm comm, int* usable) {
    struct tollbar_communicator* self = NULL;
    int found = 0, initialized = 0;
    *usable = 0;
    if (!tollbar_fits() || PMPI_Initialized(&initialized) != MPI_SUCCESS || !initialized) return NULL;
    pthread_once(&once, prepare);
    if (!ready || comm == MPI_COMM_NULL) return NULL;
    *usable = PMPI_Comm_get_attr(comm, keyval, &self, &found) == MPI_SUCCESS;
    return *usable && found ? self : NULL;
}

struct tollbar_communicator* tollbar_record_of(MPI_Comm comm) {
    int usable;
    struct tollbar_communicator* self = find(comm, &usable);
    return self != NULL || !usable ? self : make(comm);
}

struct tollbar_communicator* tollbar_look_up(MPI_Comm comm, int with_join) {
    int usable;
    struct tollbar_communicator* self = find(comm, &usable);
    if (!usable || (!with_join && (self == NULL || !self->joined))) return NULL;
    if (self == NULL) {
        tollbar_release_freed();
        self = make(comm);
        if (self == NULL) return NULL;
    }
    if (!self->joined) join(comm, self);
    self->joined = 1;
    if (self->participant == NULL) self = NULL;
    tollbar_remembered = (struct tollbar_remembered){comm, atomic_load_explicit(&tollbar_freed, memory_order_relaxed),
                                                     self};
    return self;
}
