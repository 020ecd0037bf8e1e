/* SPDX-License-Identifier: Apache-2.0
 * Plain requests, not persistent ones: the PMLs send an empty message at once and hand out no request for it, and an
 * idle persistent request would keep its communicator alive after MPI_Comm_free. */
#include "pml_p2p.h"

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
};

static tollbar_channel* open_channel(void* state, uint32_t peer, enum tollbar_way way, void* data, uint32_t bytes) {
    (void)state;
    tollbar_channel* channel = malloc(sizeof *channel);
    if (channel != NULL) *channel = (tollbar_channel){NULL, (int)peer, way, data, bytes};
    return channel;
}

static int start(void* state, tollbar_channel* channel) {
    const int tag = channel->data == NULL ? channel_tag : set_up_tag;
    const int failed = channel->way == TOLLBAR_TO_PEER
                           ? MCA_PML_CALL(isend(channel->data, channel->bytes, MPI_BYTE, channel->peer, tag,
                                                MCA_PML_BASE_SEND_STANDARD, state, &channel->request))
                           : MCA_PML_CALL(irecv(channel->data, channel->bytes, MPI_BYTE, channel->peer, tag, state,
                                                &channel->request));
    if (failed) channel->request = NULL;
    return failed;
}

/* Memory order: acquire of what the sender did before, when nonzero. */
static int done(void* state, tollbar_channel* channel) {
    (void)state;
    if (channel->request == NULL) return 1;
    if (!REQUEST_COMPLETE(channel->request)) return 0;
    opal_atomic_rmb(); /* pairs with the barrier before the PML marks a request complete */
    ompi_request_free(&channel->request);
    channel->request = NULL;
    return 1;
}

static void close_channel(void* state, tollbar_channel* channel) {
    if (!done(state, channel)) {
        ompi_request_cancel(channel->request);
        ompi_request_free(&channel->request); /* the PML frees it once it is over */
    }
    free(channel);
}

static void progress(void* state) {
    (void)state;
    opal_progress();
}

struct tollbar_p2p tollbar_pml_p2p(struct ompi_communicator_t* comm) {
    return (struct tollbar_p2p){
        .state = comm,
        .rank = (uint32_t)ompi_comm_rank(comm),
        .ranks = (uint32_t)ompi_comm_size(comm),
        .open = open_channel,
        .start = start,
        .done = done,
        .close = close_channel,
        .progress = progress,
    };
}
