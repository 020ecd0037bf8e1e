/* SPDX-License-Identifier: Apache-2.0
 * Plain requests, not persistent ones: the PMLs send an empty message at once and hand out no request for it, and an
 * idle persistent request would keep its communicator alive after MPI_Comm_free. */
#include "pml_p2p.h"

#include <ompi/mca/pml/pml.h>
#include <opal/runtime/opal_progress.h>

#include <stdlib.h>
#include <string.h>

/* Open MPI's blocking collectives use -10 and below, users 0 and above, and -1 is MPI_ANY_TAG. */
enum { channel_tag = -9, set_up_tag = -8 };

struct tollbar_channel {
    struct ompi_request_t* request; /* NULL when nothing is under way */
    int peer;
    int sends;
};

/* Nonzero when it is over (then it is freed, and NULL); NULL counts as over. Memory order: acquire of what the sender
 * did before, when nonzero. */
static int over(struct ompi_request_t** request) {
    if (*request == NULL) return 1;
    if (!REQUEST_COMPLETE(*request)) return 0;
    opal_atomic_rmb(); /* pairs with the barrier before the PML marks a request complete */
    ompi_request_free(request);
    *request = NULL;
    return 1;
}

static int wait_for(struct ompi_request_t** request, const struct tollbar_idle* idle) {
    while (!over(request)) idle->call(idle->context, NULL); /* which makes progress */
    return OMPI_SUCCESS;
}

static int send_data(struct ompi_communicator_t* comm, int peer, const void* data, uint32_t bytes,
                     struct ompi_request_t** request) {
    return MCA_PML_CALL(
        isend((void*)data, bytes, MPI_BYTE, peer, set_up_tag, MCA_PML_BASE_SEND_STANDARD, comm, request));
}

/* Receives everybody's, and tells meanwhile whose have come. */
static int gather_at_root(struct ompi_communicator_t* comm, const void* mine, void* all, uint32_t bytes,
                          const struct tollbar_idle* idle) {
    const int ranks = ompi_comm_size(comm);
    struct ompi_request_t** requests = calloc((size_t)ranks, sizeof *requests);
    unsigned char* heard = calloc((size_t)ranks, 1);
    int failed = requests == NULL || heard == NULL ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
    for (int rank = 1; rank < ranks && !failed; ++rank)
        failed = MCA_PML_CALL(
            irecv((char*)all + (size_t)rank * bytes, bytes, MPI_BYTE, rank, set_up_tag, comm, &requests[rank]));
    if (!failed) {
        memcpy(all, mine, bytes);
        heard[0] = 1;
        for (int missing = ranks - 1; missing > 0;) {
            for (int rank = 1; rank < ranks; ++rank) {
                if (heard[rank] || !over(&requests[rank])) continue;
                heard[rank] = 1;
                --missing;
            }
            if (missing > 0) idle->call(idle->context, heard);
        }
    }
    free(requests);
    free(heard);
    return failed;
}

/* Linear, because only who receives each rank's own message can say whose has not come. */
static int gather(void* state, const void* mine, void* all, uint32_t bytes, const struct tollbar_idle* idle) {
    struct ompi_communicator_t* comm = state;
    struct ompi_request_t* request = NULL;
    if (ompi_comm_rank(comm) == 0) return gather_at_root(comm, mine, all, bytes, idle);
    const int failed = send_data(comm, 0, mine, bytes, &request);
    return failed ? failed : wait_for(&request, idle);
}

/* Down a wide tree: where ranks outnumber CPUs, each level costs every rank a turn. */
static int broadcast(void* state, void* data, uint32_t bytes, const struct tollbar_idle* idle) {
    enum { children = 16 };
    struct ompi_communicator_t* comm = state;
    const int rank = ompi_comm_rank(comm);
    const int ranks = ompi_comm_size(comm);
    struct ompi_request_t* requests[children] = {NULL};
    if (rank != 0) {
        const int failed = MCA_PML_CALL(
            irecv(data, bytes, MPI_BYTE, (rank - 1) / children, set_up_tag, comm, &requests[0]));
        if (failed) return failed;
        wait_for(&requests[0], idle);
    }
    for (int i = 0; i < children && rank * children + 1 + i < ranks; ++i) {
        const int failed = send_data(comm, rank * children + 1 + i, data, bytes, &requests[i]);
        if (failed) return failed;
    }
    for (int i = 0; i < children; ++i) wait_for(&requests[i], idle);
    return OMPI_SUCCESS;
}

static tollbar_channel* open_channel(uint32_t peer, int sends) {
    tollbar_channel* channel = malloc(sizeof *channel);
    if (channel != NULL) *channel = (tollbar_channel){.request = NULL, .peer = (int)peer, .sends = sends};
    return channel;
}

static tollbar_channel* open_to(void* state, uint32_t peer) {
    (void)state;
    return open_channel(peer, 1);
}

static tollbar_channel* open_from(void* state, uint32_t peer) {
    (void)state;
    return open_channel(peer, 0);
}

static int start(void* state, tollbar_channel* channel) {
    const int failed = channel->sends ? MCA_PML_CALL(isend(NULL, 0, MPI_BYTE, channel->peer, channel_tag,
                                                           MCA_PML_BASE_SEND_STANDARD, state, &channel->request))
                                      : MCA_PML_CALL(irecv(NULL, 0, MPI_BYTE, channel->peer, channel_tag, state,
                                                           &channel->request));
    if (failed) channel->request = NULL;
    return failed;
}

static int done(void* state, tollbar_channel* channel) {
    (void)state;
    return over(&channel->request);
}

static void close_channel(void* state, tollbar_channel* channel) {
    (void)state;
    if (!over(&channel->request)) {
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
        .gather = gather,
        .broadcast = broadcast,
        .open_to = open_to,
        .open_from = open_from,
        .start = start,
        .done = done,
        .close = close_channel,
        .progress = progress,
    };
}
