/* SPDX-License-Identifier: Apache-2.0
 * The calls that a barrier between processes makes of an MPI: messages, empty ones but to set up with, and progress.
 * Plain C, because Open MPI's own headers are; one object a communicator, filled in by a door. */
#ifndef TOLLBAR_TRANSPORTS_MPI_P2P_H
#define TOLLBAR_TRANSPORTS_MPI_P2P_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One direction between this rank and a peer, in which one message at a time is under way. */
typedef struct tollbar_channel tollbar_channel;

enum tollbar_way { TOLLBAR_TO_PEER, TOLLBAR_FROM_PEER };

/* `state` is handed back in each call. */
struct tollbar_p2p {
    void* state;
    uint32_t rank;
    uint32_t ranks;

    /* Nonzero when messages of this communicator can be told from those of every other one. Until then only progress()
     * and error() may be called. NULL: from the beginning. Never blocks. */
    int (*is_apart)(void* state);

    /* NULL when refused. A message is the bytes at `data`, which outlives the channel; empty where that is NULL, and
     * one never matches the other. It matches only a message of a tollbar_p2p of the same communicator, never a user's;
     * messages of one channel arrive in the order they were started in. */
    tollbar_channel* (*open)(void* state, uint32_t peer, enum tollbar_way way, void* data, uint32_t bytes);
    /* Starts to send or to receive one message; nonzero when the MPI refused. The one before must be done. Memory
     * order: a send is a release, the receive that matches it an acquire once done. */
    int (*start)(void* state, tollbar_channel* channel);
    /* Positive when the message started last is over, also when none was started; negative from when the MPI gave an
     * error for one of the channel. Never blocks. */
    int (*done)(void* state, tollbar_channel* channel);
    /* Gives up a receive that is under way, if any. Nonzero when the MPI may use the channel's data even so: from now
     * on, and nobody can say how long. */
    int (*close)(void* state, tollbar_channel* channel);

    /* The MPI's code of the first error that a message met, or of what became of the communicator; 0 as long as all is
     * well, also where a channel was refused. Never blocks. */
    int (*error)(void* state);

    /* Lets the MPI go on with everything else it has to do. Never blocks. */
    void (*progress)(void* state);

    /* The number of a rank in MPI_COMM_WORLD; negative where it has none, as in a spawned job. For reports; NULL:
     * nobody knows. Never blocks. */
    int (*world_rank)(void* state, uint32_t rank);
};

#ifdef __cplusplus
}
#endif

#endif
