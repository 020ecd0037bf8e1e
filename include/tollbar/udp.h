/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers between hosts over UDP, for C: the interface of udp.hpp. No privilege is needed. */
#ifndef TOLLBAR_UDP_H
#define TOLLBAR_UDP_H

#include <tollbar/tollbar.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions return 0 or an errno value and leave a line in tollbar_last_error(), as those of tollbar.h do. */

/* A bound socket, so that ranks can exchange their addresses before they join. */
typedef struct tollbar_udp_place tollbar_udp_place;

/* One rank of a group, used by one thread at a time; a process may have any number of them.
 *
 *     tollbar_udp_place_open(&place, hosts[rank]);
 *     tollbar_udp_join(&self, place, rank, 3, hosts, &options);
 *     for (...) { compute(); tollbar_udp_arrive(self); tollbar_udp_wait(self); }
 *     tollbar_udp_leave(self);
 *
 * Memory order: what a rank did before it arrived happens before any wait for, or successful test of, the same episode
 * returns, in every rank of the same host that shares its memory. */
typedef struct tollbar_udp tollbar_udp;

typedef struct tollbar_udp_options {
    uint64_t key;      /* random and secret, the same at all ranks of a job, different in each job; never sent */
    uint32_t group;    /* number of the group in its job */
    const char* plan;  /* a catalogue spelling ("mcs:4,2"), the same at all ranks; NULL or "": dissemination */
    int wait;          /* a tollbar_wait; auto: TOLLBAR_WAIT if set, else yields 16 times, then sleeps */
    uint64_t key_high; /* the other half of a key of 128 bits; with 0 it has 64 */
} tollbar_udp_options;

/* Binds to "10.0.0.3:7777" or "host:7777"; port 0 selects a free one.
 * Errors: EINVAL (no such address), ENOMEM, EADDRINUSE, EADDRNOTAVAIL and others of bind(2). */
int tollbar_udp_place_open(tollbar_udp_place** place, const char* address);

/* The bound address with its port. Valid until the place is closed; NULL for NULL. */
const char* tollbar_udp_place_address(const tollbar_udp_place* place);

/* NULL is allowed and does nothing. */
void tollbar_udp_place_close(tollbar_udp_place* place);

/* Joins as `rank`, receiving at `place`. The call closes `place`, also when it fails, unless a pointer was NULL.
 * `addresses` has one address for each rank; the other ranks need not be up yet.
 * Errors: EINVAL (plan, rank, addresses, wait), ENOMEM, EAGAIN (no more threads). */
int tollbar_udp_join(tollbar_udp** self, tollbar_udp_place* place, uint32_t rank, uint32_t ranks,
                     const char* const* addresses, const tollbar_udp_options* options);

/* Leaves: answers the others until every rank it signals has left or no request has come for half a second. NULL is
 * allowed and does nothing. */
void tollbar_udp_leave(tollbar_udp* self);

/* Enters the next episode. Never blocks, unless the previous episode is not over: then it waits for that first.
 * Errors: EINVAL. */
int tollbar_udp_arrive(tollbar_udp* self);

/* Advances without blocking: 0 when the episode is over, EAGAIN when it is not. Errors: EINVAL. */
int tollbar_udp_test(tollbar_udp* self);

/* Blocks until the episode is over. Errors: EINVAL. */
int tollbar_udp_wait(tollbar_udp* self);

/* Blocks until the episode is over or the time has passed. On ETIMEDOUT up to `capacity` ranks that are not known to
 * have arrived are written to `missing` in ascending order and their number to `*count` (may be NULL), and
 * tollbar_last_error() names them. The episode goes on; any wait or test may follow.
 * Errors: EINVAL, ENOMEM, ETIMEDOUT. */
int tollbar_udp_wait_for(tollbar_udp* self, int64_t nanoseconds, uint32_t* missing, size_t capacity, size_t* count);

#ifdef __cplusplus
}
#endif

#endif
