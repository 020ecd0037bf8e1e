/* SPDX-License-Identifier: Apache-2.0
 * Plain requests, not persistent ones: the PMLs send an empty message at once and hand out no request for it, and an
 * idle persistent request would keep its communicator alive after MPI_Comm_free. */
#include "pml_p2p.h"

#include <ompi/communicator/communicator.h>
#include <ompi/errhandler/errcode-internal.h>
#include <ompi/group/group.h>
#include <ompi/mca/pml/pml.h>
#include <opal/runtime/opal_progress.h>

#include <stdlib.h>

/* Open MPI's blocking collectives use -10 and below, users 0 and above, and -1 is MPI_ANY_TAG. */
enum { channel_tag = -9, set_up_tag = -8 };

struct tollbar_channel {
    struct ompi_request_t* request; /* NULL when nothing is under way */
    int peer;
    enum tollbar_way way;
    void* data;
    uint32_t bytes;
    bool failed; /* Open MPI gave an error: whether anything has arrived is not known any more */
};

static tollbar_channel* open_channel(void* state, uint32_t peer, enum tollbar_way way, void* data, uint32_t bytes) {
    (void)state;
    tollbar_channel* channel = malloc(sizeof *channel);
    if (channel != NULL) *channel = (tollbar_channel){NULL, (int)peer, way, data, bytes, false};
    return channel;
}

static void note(struct tollbar_pml_state* self, tollbar_channel* channel, int error) {
    if (error == OMPI_SUCCESS) return;
    channel->failed = true;
    if (self->error == MPI_SUCCESS) self->error = ompi_errcode_get_mpi_code(error);
}

static int start(void* state, tollbar_channel* channel) {
    struct tollbar_pml_state* self = state;
    const int tag = channel->data == NULL ? channel_tag : set_up_tag;
    const int failed = channel->way == TOLLBAR_TO_PEER
                           ? MCA_PML_CALL(isend(channel->data, channel->bytes, MPI_BYTE, channel->peer, tag,
                                                MCA_PML_BASE_SEND_STANDARD, self->comm, &channel->request))
                           : MCA_PML_CALL(irecv(channel->data, channel->bytes, MPI_BYTE, channel->peer, tag, self->comm,
                                                &channel->request));
    if (failed) channel->request = NULL;
    note(self, channel, failed);
    return failed;
}

/* Memory order: acquire of what the sender did before, when positive. */
static int done(void* state, tollbar_channel* channel) {
    if (channel->request != NULL) {
        if (!REQUEST_COMPLETE(channel->request)) return 0;
        opal_atomic_rmb(); /* pairs with the barrier before the PML marks a request complete */
        note(state, channel, channel->request->req_status.MPI_ERROR);
        ompi_request_free(&channel->request);
        channel->request = NULL;
    }
    return channel->failed ? -1 : 1;
}

static int close_channel(void* state, tollbar_channel* channel) {
    int uses_data = 0;
    if (done(state, channel) == 0) {
        ompi_request_cancel(channel->request); /* a receive that nothing has matched is over at once */
        uses_data = channel->data != NULL && !REQUEST_COMPLETE(channel->request);
        ompi_request_free(&channel->request); /* the PML frees it once it is over */
    }
    free(channel);
    return uses_data;
}

static int error_met(void* state) { return ((const struct tollbar_pml_state*)state)->error; }

static void progress(void* state) {
    (void)state;
    opal_progress();
}

static int world_rank(void* state, uint32_t rank) {
    const struct tollbar_pml_state* self = state;
    int here = (int)rank, there = MPI_UNDEFINED;
    ompi_group_translate_ranks(self->comm->c_local_group, 1, &here, ompi_mpi_comm_world.comm.c_local_group, &there);
    return there == MPI_UNDEFINED ? -1 : there;
}

struct tollbar_p2p tollbar_pml_p2p(struct tollbar_pml_state* state, struct ompi_communicator_t* comm) {
    *state = (struct tollbar_pml_state){comm, MPI_SUCCESS};
    return (struct tollbar_p2p){
        .state = state,
        .rank = (uint32_t)ompi_comm_rank(comm),
        .ranks = (uint32_t)ompi_comm_size(comm),
        .open = open_channel,
        .start = start,
        .done = done,
        .close = close_channel,
        .error = error_met,
        .progress = progress,
        .world_rank = world_rank,
    };
}
