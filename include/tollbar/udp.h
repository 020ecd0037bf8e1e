/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers between hosts over UDP from C: see udp.hpp, whose functions these are. No privilege is needed. */
#ifndef TOLLBAR_UDP_H
#define TOLLBAR_UDP_H

#include <tollbar/tollbar.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions return 0 or an errno value and leave a line in tollbar_last_error(), as all of tollbar.h do. */

/* A place to receive at, for exchanging addresses before the group begins. */
typedef struct tollbar_udp_place tollbar_udp_place;

/* One rank of a group, used by one thread at a time; a process may have any number of them.
 *
 *     tollbar_udp_place_open(&place, hosts[rank]);
 *     tollbar_udp_join(&self, place, rank, 3, hosts, &options);
 *     for (...) { compute(); tollbar_udp_arrive(self); tollbar_udp_wait(self); }
 *     tollbar_udp_leave(self);
 *
 * Memory order: what any rank of this host did before it arrived is visible to every rank that has left the same
 * episode. */
typedef struct tollbar_udp tollbar_udp;

typedef struct tollbar_udp_options {
    uint64_t key;     /* random, the same at all ranks of a job and another in each job */
    uint32_t group;   /* tells the groups of a job apart */
    const char* plan; /* a catalogue spelling ("mcs:4,2"), the same at all ranks; NULL or "": dissemination */
    int wait;         /* a tollbar_wait; auto: TOLLBAR_WAIT if set, else looks and gives way a few times, then sleeps */
} tollbar_udp_options;

/* Binds to "10.0.0.3:7777" or "host:7777"; port 0 takes a free one.
 * Errors: EINVAL (no such address), ENOMEM, EADDRINUSE, EADDRNOTAVAIL and others of bind(2). */
int tollbar_udp_place_open(tollbar_udp_place** place, const char* address);

/* The address with the port it got. Valid until the place is closed; NULL for NULL. */
const char* tollbar_udp_place_address(const tollbar_udp_place* place);

/* NULL is allowed and does nothing. */
void tollbar_udp_place_close(tollbar_udp_place* place);

/* Takes the rank at that place, which is closed, also when this fails for another reason than a NULL pointer.
 * `addresses` has one of each of the ranks; those need not be up yet.
 * Errors: EINVAL (plan, rank, addresses, wait), ENOMEM, EAGAIN (no more threads). */
int tollbar_udp_join(tollbar_udp** self, tollbar_udp_place* place, uint32_t rank, uint32_t ranks,
                     const char* const* addresses, const tollbar_udp_options* options);

/* Answers the others until all it told have left, or nobody asked for half a second; then gives the rank up. NULL is
 * allowed and does nothing. */
void tollbar_udp_leave(tollbar_udp* self);

/* Enters the next episode. Never blocks, unless the episode before has not been left: then it waits for its end.
 * Errors: EINVAL. */
int tollbar_udp_arrive(tollbar_udp* self);

/* Goes on without blocking: 0 when the episode is over, EAGAIN when it is not. Errors: EINVAL. */
int tollbar_udp_test(tollbar_udp* self);

/* Blocks until the episode is over. Errors: EINVAL. */
int tollbar_udp_wait(tollbar_udp* self);

/* Blocks until the episode is over, at most that long. On ETIMEDOUT up to `capacity` ranks that are not known to have
 * arrived are written to `missing`, in order, how many there are to `*count` (may be NULL), and tollbar_last_error()
 * names them; the episode goes on, any wait may follow. Errors: EINVAL, ENOMEM, ETIMEDOUT. */
int tollbar_udp_wait_for(tollbar_udp* self, int64_t nanoseconds, uint32_t* missing, size_t capacity, size_t* count);

#ifdef __cplusplus
}
#endif

#endif
