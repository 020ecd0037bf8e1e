/* SPDX-License-Identifier: Apache-2.0
 * The point-to-point calls over an MPI communicator: one persistent message for each direction and peer. */
#include "pmpi_p2p.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { between_looks_ns = 5000000 };

/* Behind three times the number of a communicator. */
enum {
    tag_of_messages = 1,
    tag_of_data = 2,
    tag_of_nothing = 3 /* looked for and never sent */
};
enum { most_numbers = 10000 }; /* every MPI has the tags up to 32767 */

struct tollbar_channel {
    MPI_Request request;
    int receives;
    int carries_data;
    int under_way;
    int failed; /* the MPI gave an error: whether anything has arrived is not known any more */
};

struct pmpi_state {
    MPI_Comm comm;
    MPI_Comm private_comm; /* messages go through it; may be comm */
    MPI_Group group;       /* of comm, where the private communicator is another one, else nothing */
    MPI_Group private_group;
    int shared; /* the private communicator is another one */
    int number; /* of comm there; most likely no other one with these ranks has it */
    MPI_Request number_is_told;
    int rank;  /* in the private communicator */
    int ranks; /* of comm */
    int error; /* the first that a call for a message gave, or that was seen of the user's communicator */
    MPI_Comm watched;
    int (*look)(MPI_Comm comm); /* NULL: nobody looks */
    int64_t looked_at_ns;
};

static int noted(struct pmpi_state* self, int code) {
    if (self->error == MPI_SUCCESS) self->error = code;
    return code;
}

/* A process of an MPI session may have no MPI_COMM_WORLD, and asking for its group would end the program. */
static int world_rank(void* state, uint32_t rank) {
    const struct pmpi_state* self = state;
    int has_world = 0, here = (int)rank, there = MPI_UNDEFINED;
    MPI_Group group, world;
    PMPI_Initialized(&has_world);
    if (!has_world || PMPI_Comm_group(self->comm, &group) != MPI_SUCCESS) return -1;
    if (PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        PMPI_Group_translate_ranks(group, 1, &here, world, &there);
        PMPI_Group_free(&world);
    }
    PMPI_Group_free(&group);
    return there == MPI_UNDEFINED ? -1 : there;
}

/* The number of a rank of comm in the private communicator. */
static int address(const struct pmpi_state* self, int rank) {
    int there = rank;
    if (self->shared) PMPI_Group_translate_ranks(self->group, 1, &rank, self->private_group, &there);
    return there;
}

static tollbar_channel* open_channel(void* state, uint32_t rank, enum tollbar_way way, void* data, uint32_t bytes) {
    struct pmpi_state* self = state;
    const int peer = address(self, (int)rank);
    const int tag = 3 * self->number + (data == NULL ? tag_of_messages : tag_of_data);
    tollbar_channel* channel = malloc(sizeof *channel);
    if (channel == NULL) return NULL;
    *channel = (tollbar_channel){.receives = way == TOLLBAR_FROM_PEER, .carries_data = data != NULL};
    MPI_Comm comm = self->private_comm;
    const int refused = channel->receives
                            ? PMPI_Recv_init(data, (int)bytes, MPI_BYTE, peer, tag, comm, &channel->request)
                            : PMPI_Send_init(data, (int)bytes, MPI_BYTE, peer, tag, comm, &channel->request);
    if (refused == MPI_SUCCESS) return channel;
    free(channel);
    return NULL;
}

/* Memory order: that of MPI_Start and of the message: a send is a release, see p2p.h. */
static int start(void* state, tollbar_channel* channel) {
    const int refused = noted(state, PMPI_Start(&channel->request));
    channel->under_way = refused == MPI_SUCCESS;
    channel->failed |= !channel->under_way;
    return refused;
}

/* Memory order: acquire of what the sender did before it started the message, when it was a receive and is over. A
 * message with an error was not delivered, though it is under way no more. */
static int done(void* state, tollbar_channel* channel) {
    int over = 0;
    if (channel->failed) return -1;
    if (!channel->under_way) return 1;
    channel->failed = noted(state, PMPI_Test(&channel->request, &over, MPI_STATUS_IGNORE)) != MPI_SUCCESS;
    channel->under_way = !over && !channel->failed;
    return channel->failed ? -1 : over;
}

static int close_channel(void* state, tollbar_channel* channel) {
    (void)state;
    int finalized = 0, sends = channel->under_way && !channel->receives;
    PMPI_Finalized(&finalized);
    if (!finalized) {
        if (channel->under_way && channel->receives) {
            PMPI_Cancel(&channel->request); /* a receive ends locally then: cancelled, or matched just before */
            PMPI_Wait(&channel->request, MPI_STATUS_IGNORE);
        }
        PMPI_Request_free(&channel->request); /* a send under way is still delivered */
    }
    const int uses_data = sends && channel->carries_data;
    free(channel);
    return uses_data;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int error_met(void* state) {
    struct pmpi_state* self = state;
    if (self->error != MPI_SUCCESS || self->look == NULL) return self->error;
    const int64_t now = now_ns();
    if (now - self->looked_at_ns < between_looks_ns) return MPI_SUCCESS;
    self->looked_at_ns = now;
    return noted(self, self->look(self->watched));
}

void tollbar_pmpi_p2p_watch(struct tollbar_p2p* p2p, MPI_Comm comm, int (*look)(MPI_Comm comm)) {
    struct pmpi_state* self = p2p->state;
    self->watched = comm;
    self->look = comm == MPI_COMM_NULL ? NULL : look;
}

/* Looks for a message from this rank to itself that nobody sends: a probe in vain makes every MPI go on with all its
 * work, and such a narrow one takes the same time however many ranks there are. */
static void progress(void* state) {
    const struct pmpi_state* self = state;
    int found = 0;
    PMPI_Iprobe(self->rank, tag_of_nothing, self->private_comm, &found, MPI_STATUS_IGNORE);
}

/* Whether the private communicator knows every rank of the communicator. */
static int reaches_everybody(const struct pmpi_state* self) {
    for (int rank = 0; rank < self->ranks; ++rank)
        if (address(self, rank) == MPI_UNDEFINED) return 0;
    return 1;
}

static int look_around(struct pmpi_state* self, int* rank) {
    int refused = PMPI_Comm_rank(self->comm, rank);
    if (refused == MPI_SUCCESS) refused = PMPI_Comm_rank(self->private_comm, &self->rank);
    if (refused == MPI_SUCCESS) refused = PMPI_Comm_size(self->comm, &self->ranks);
    if (refused != MPI_SUCCESS || !self->shared) return refused;
    refused = PMPI_Comm_group(self->comm, &self->group);
    if (refused == MPI_SUCCESS) refused = PMPI_Comm_group(self->private_comm, &self->private_group);
    return refused == MPI_SUCCESS && !reaches_everybody(self) ? MPI_ERR_GROUP : refused;
}

/* The communicator's own collective call tells its number, so that a rank at the barrier of another one, by mistake,
 * gets no message of this one. */
static int is_apart(void* state) {
    struct pmpi_state* self = state;
    int over = 0;
    if (noted(self, PMPI_Test(&self->number_is_told, &over, MPI_STATUS_IGNORE)) != MPI_SUCCESS) return 0;
    return over;
}

static int tell_number(struct pmpi_state* self, int rank) {
    static unsigned opened; /* one thread at a time is here, see the header */
    if (rank == 0) self->number = (int)(((unsigned)self->rank * 7919U + ++opened) % most_numbers);
    return PMPI_Ibcast(&self->number, 1, MPI_INT, 0, self->comm, &self->number_is_told);
}

static int open_p2p(MPI_Comm comm, MPI_Comm private_comm, int shared, struct tollbar_p2p* p2p) {
    struct pmpi_state* self = malloc(sizeof *self);
    if (self == NULL) return MPI_ERR_OTHER;
    *self = (struct pmpi_state){.comm = comm,
                                .private_comm = private_comm,
                                .group = MPI_GROUP_NULL,
                                .private_group = MPI_GROUP_NULL,
                                .shared = shared,
                                .number_is_told = MPI_REQUEST_NULL};
    int rank = 0;
    int refused = look_around(self, &rank);
    if (refused == MPI_SUCCESS && shared) refused = tell_number(self, rank);
    *p2p = (struct tollbar_p2p){
        .state = self,
        .rank = (uint32_t)rank,
        .ranks = (uint32_t)self->ranks,
        .is_apart = shared ? is_apart : NULL,
        .open = open_channel,
        .start = start,
        .done = done,
        .close = close_channel,
        .error = error_met,
        .progress = progress,
        .world_rank = world_rank,
    };
    if (refused != MPI_SUCCESS) tollbar_pmpi_p2p_close(p2p);
    return refused;
}

int tollbar_pmpi_p2p_open(MPI_Comm comm, struct tollbar_p2p* p2p) {
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return open_p2p(comm, comm, 0, p2p);
}

int tollbar_pmpi_p2p_open_through(MPI_Comm comm, MPI_Comm private_comm, struct tollbar_p2p* p2p) {
    return open_p2p(comm, private_comm, 1, p2p);
}

void tollbar_pmpi_p2p_close(struct tollbar_p2p* p2p) {
    struct pmpi_state* self = p2p->state;
    if (self->group != MPI_GROUP_NULL) PMPI_Group_free(&self->group);
    if (self->private_group != MPI_GROUP_NULL) PMPI_Group_free(&self->private_group);
    if (self->number_is_told == MPI_REQUEST_NULL) free(self); /* else the MPI may write into it still */
    p2p->state = NULL;
}
