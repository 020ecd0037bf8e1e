/* SPDX-License-Identifier: Apache-2.0
 * The point-to-point calls over an MPI communicator: one persistent empty message for each direction and peer. */
#include "pmpi_p2p.h"

#include <stdlib.h>
#include <string.h>

enum {
    tag_of_messages = 1,
    tag_of_cards = 2,
    tag_of_nothing = 3 /* looked for and never sent */
};

struct tollbar_channel {
    MPI_Request request;
    int receives;
    int under_way;
    int failed; /* the MPI gave an error: whether anything has arrived is not known any more */
};

struct pmpi_state {
    MPI_Comm comm;
    MPI_Comm private_comm; /* messages go through it; may be comm */
    MPI_Group group;       /* of comm, where the private communicator is another one, else nothing */
    MPI_Group private_group;
    int shared; /* the private communicator is another one */
    int rank;   /* in the private communicator */
    int ranks;  /* of comm */
};

/* What the private communicator calls a rank of comm. */
static int address(const struct pmpi_state* self, int rank) {
    int there = rank;
    if (self->shared) PMPI_Group_translate_ranks(self->group, 1, &rank, self->private_group, &there);
    return there;
}

static int wait_for(MPI_Request* request, const struct tollbar_idle* idle) {
    int over = 0;
    for (;;) {
        const int refused = PMPI_Test(request, &over, MPI_STATUS_IGNORE);
        if (refused != MPI_SUCCESS || over) return refused;
        idle->call(idle->context, NULL);
    }
}

/* Linear, because only the receiver of each rank's own message can say whose has not come. */
static int gather_at_root(const struct pmpi_state* self, const void* mine, void* all, uint32_t bytes,
                          const struct tollbar_idle* idle) {
    const int ranks = self->ranks;
    MPI_Request* requests = malloc((size_t)ranks * sizeof *requests);
    unsigned char* heard = calloc((size_t)ranks, 1);
    int refused = requests == NULL || heard == NULL ? MPI_ERR_OTHER : MPI_SUCCESS;
    memcpy(all, mine, bytes);
    for (int rank = 1; rank < ranks && refused == MPI_SUCCESS; ++rank)
        refused = PMPI_Irecv((char*)all + (size_t)rank * bytes, (int)bytes, MPI_BYTE, address(self, rank), tag_of_cards,
                             self->private_comm, &requests[rank]);
    int missing = refused == MPI_SUCCESS ? ranks - 1 : 0;
    if (heard != NULL) heard[0] = 1;
    while (missing > 0 && refused == MPI_SUCCESS) {
        for (int rank = 1; rank < ranks && refused == MPI_SUCCESS; ++rank) {
            int over = 0;
            if (heard[rank]) continue;
            refused = PMPI_Test(&requests[rank], &over, MPI_STATUS_IGNORE);
            heard[rank] = over != 0;
            missing -= over != 0;
        }
        if (missing > 0) idle->call(idle->context, heard);
    }
    free(requests);
    free(heard);
    return refused;
}

static int gather(void* state, const void* mine, void* all, uint32_t bytes, const struct tollbar_idle* idle) {
    const struct pmpi_state* self = state;
    const int root = address(self, 0);
    if (self->rank == root) return gather_at_root(self, mine, all, bytes, idle);
    MPI_Request request;
    const int refused = PMPI_Isend(mine, (int)bytes, MPI_BYTE, root, tag_of_cards, self->private_comm, &request);
    return refused == MPI_SUCCESS ? wait_for(&request, idle) : refused;
}

static int broadcast(void* state, void* data, uint32_t bytes, const struct tollbar_idle* idle) {
    const struct pmpi_state* self = state;
    MPI_Request request;
    const int refused = PMPI_Ibcast(data, (int)bytes, MPI_BYTE, 0, self->comm, &request);
    return refused == MPI_SUCCESS ? wait_for(&request, idle) : refused;
}

static tollbar_channel* open_channel(struct pmpi_state* self, int rank, int receives) {
    const int peer = address(self, rank);
    tollbar_channel* channel = malloc(sizeof *channel);
    if (channel == NULL) return NULL;
    channel->receives = receives;
    channel->under_way = channel->failed = 0;
    const int refused = receives ? PMPI_Recv_init(NULL, 0, MPI_BYTE, peer, tag_of_messages, self->private_comm,
                                                  &channel->request)
                                 : PMPI_Send_init(NULL, 0, MPI_BYTE, peer, tag_of_messages, self->private_comm,
                                                  &channel->request);
    if (refused == MPI_SUCCESS) return channel;
    free(channel);
    return NULL;
}

static tollbar_channel* open_to(void* state, uint32_t peer) { return open_channel(state, (int)peer, 0); }

static tollbar_channel* open_from(void* state, uint32_t peer) { return open_channel(state, (int)peer, 1); }

/* Memory order: that of MPI_Start and of the message: a send is a release, see p2p.h. */
static int start(void* state, tollbar_channel* channel) {
    (void)state;
    const int refused = PMPI_Start(&channel->request);
    channel->under_way = refused == MPI_SUCCESS;
    channel->failed |= !channel->under_way;
    return refused;
}

/* Memory order: acquire of what the sender did before it started the message, when it was a receive and is over. An
 * MPI that reports an error has not delivered it: the rank goes on waiting instead of leaving early. */
static int done(void* state, tollbar_channel* channel) {
    (void)state;
    int over = 0;
    if (channel->failed) return 0;
    if (!channel->under_way) return 1;
    channel->failed = PMPI_Test(&channel->request, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    channel->under_way = !over;
    return over && !channel->failed;
}

static void close_channel(void* state, tollbar_channel* channel) {
    (void)state;
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (!finalized) {
        if (channel->under_way && channel->receives) {
            PMPI_Cancel(&channel->request); /* a receive ends locally then: cancelled, or matched just before */
            PMPI_Wait(&channel->request, MPI_STATUS_IGNORE);
        }
        PMPI_Request_free(&channel->request); /* a send under way is still delivered */
    }
    free(channel);
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

static int open_p2p(MPI_Comm comm, MPI_Comm private_comm, int shared, struct tollbar_p2p* p2p) {
    struct pmpi_state* self = malloc(sizeof *self);
    if (self == NULL) return MPI_ERR_OTHER;
    *self = (struct pmpi_state){.comm = comm,
                                .private_comm = private_comm,
                                .group = MPI_GROUP_NULL,
                                .private_group = MPI_GROUP_NULL,
                                .shared = shared};
    int rank = 0;
    const int refused = look_around(self, &rank);
    *p2p = (struct tollbar_p2p){
        .state = self,
        .rank = (uint32_t)rank,
        .ranks = (uint32_t)self->ranks,
        .gather = gather,
        .broadcast = broadcast,
        .open_to = open_to,
        .open_from = open_from,
        .start = start,
        .done = done,
        .close = close_channel,
        .progress = progress,
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
    free(self);
    p2p->state = NULL;
}
