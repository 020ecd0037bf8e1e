/* SPDX-License-Identifier: Apache-2.0
 * What a barrier between processes asks of an MPI: two collectives to set up with, empty messages, and progress.
 * Plain C, because Open MPI's own headers are; one object a communicator, filled in by a door. */
#ifndef TOLLBAR_TRANSPORTS_MPI_P2P_H
#define TOLLBAR_TRANSPORTS_MPI_P2P_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One direction between this rank and a peer, in which one empty message at a time is under way. */
typedef struct tollbar_channel tollbar_channel;

/* Called again and again while a set-up waits, to pass time politely and to say who is missing. `heard` has a nonzero
 * byte for every rank heard of so far; it is NULL where that is not known. */
struct tollbar_idle {
    void (*call)(void* context, const unsigned char* heard);
    void* context;
};

/* Functions that return int give 0 or, where the MPI refused, anything else. `state` is handed back in each. */
struct tollbar_p2p {
    void* state;
    uint32_t rank;
    uint32_t ranks;

    /* Set-up; every rank calls them in the same order. The root is rank 0; `all` counts there only. They wait by
     * nonblocking operations of the MPI, with idle->call in between, so that a rank that never comes can be named. */
    int (*gather)(void* state, const void* mine, void* all, uint32_t bytes, const struct tollbar_idle* idle);
    int (*broadcast)(void* state, void* data, uint32_t bytes, const struct tollbar_idle* idle);

    /* NULL when refused. A message matches only a message of a tollbar_p2p of the same communicator, never a user's;
     * messages of one channel arrive in the order they were started in. */
    tollbar_channel* (*open_to)(void* state, uint32_t peer);
    tollbar_channel* (*open_from)(void* state, uint32_t peer);
    /* Starts to send or to receive one message. The one before must be done. Memory order: a send is a release,
     * the receive that matches it an acquire once done. */
    int (*start)(void* state, tollbar_channel* channel);
    /* Nonzero when the message started last is over (also when none was started), and never after the MPI gave an
     * error for one of the channel. Never blocks. */
    int (*done)(void* state, tollbar_channel* channel);
    /* Gives up a receive that is under way, if any. */
    void (*close)(void* state, tollbar_channel* channel);

    /* Lets the MPI go on with everything else it has to do. Never blocks. */
    void (*progress)(void* state);
};

#ifdef __cplusplus
}
#endif

#endif
