/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers between hosts over UDP, for C: the interface of udp.hpp. No privilege is
 * needed. Link with -ltollbar. */
#ifndef TOLLBAR_UDP_H
#define TOLLBAR_UDP_H

#include <tollbar/tollbar.h>

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* The conventions of tollbar.h hold: 0 or an errno value, output arguments last, a line in tollbar_last_error(). */

/* A bound socket, so that ranks can exchange their addresses before they join. */
typedef struct tollbar_udp_endpoint tollbar_udp_endpoint;

/* One rank of a group, used by one thread at a time; a process may have any number of them.
 *
 *     tollbar_udp_endpoint_create(hosts[rank], &endpoint);
 *     const tollbar_udp_group group = {.key = KEY, .id = 1, .rank = rank, .ranks = 3, .addresses = hosts};
 *     tollbar_udp_join(endpoint, &group, NULL, &member);
 *     for (...) { compute(); tollbar_udp_arrive_and_wait(member); }
 *     tollbar_udp_leave(member);
 *
 * Memory order: what a rank did before it arrived happens before any wait for, or successful test of, the same episode
 * returns, in every rank of the same host that shares its memory. */
typedef struct tollbar_udp tollbar_udp;

/* The group to join, and the rank of the member that joins. */
typedef struct tollbar_udp_group {
    uint8_t key[16]; /* random and secret, the same at all ranks of a job, different in each job; never sent */
    uint32_t id;     /* number of the group in its job */
    uint32_t rank;   /* of this member, 0 <= rank < ranks */
    uint32_t ranks;  /* 1 or more */
    const char* const* addresses; /* of each rank, such as "10.0.0.3:7777"; the others need not be up yet */
} tollbar_udp_group;

/* All zero, or a NULL pointer to it, selects the defaults. */
typedef struct tollbar_udp_options {
    const char* plan;     /* a catalogue spelling ("mcs:4,2"), the same at all ranks; NULL or "": dissemination */
    tollbar_wait wait;    /* auto: TOLLBAR_WAIT if set, else yields 16 times, then sleeps */
    uint64_t reserved[4]; /* zero */
} tollbar_udp_options;

/* Binds to "10.0.0.3:7777" or "host:7777"; port 0 selects a free one.
 * Errors: EINVAL (no such address), ENOMEM, EADDRINUSE, EADDRNOTAVAIL and others of bind(2). */
int tollbar_udp_endpoint_create(const char* address, tollbar_udp_endpoint** endpoint);

/* The bound address with its port. Valid until the endpoint is destroyed; NULL for NULL. */
const char* tollbar_udp_endpoint_address(const tollbar_udp_endpoint* endpoint);

/* Closes the socket of an endpoint with which nobody joined. Errors: none. */
int tollbar_udp_endpoint_destroy(tollbar_udp_endpoint* endpoint);

/* Joins a group, receiving at `endpoint`. The call destroys `endpoint`, also when it fails, unless a pointer was NULL.
 * Errors: EINVAL (plan, rank, addresses, wait), ENOMEM, EAGAIN (no more threads). */
int tollbar_udp_join(tollbar_udp_endpoint* endpoint, const tollbar_udp_group* group, const tollbar_udp_options* options,
                     tollbar_udp** member);

/* Leaves: answers the others until every rank it signals has left or no request has come for half a second.
 * Errors: none. */
int tollbar_udp_leave(tollbar_udp* member);

/* Enters the next episode. Never blocks, unless the previous episode is not over: then it waits for that first.
 * Errors: EINVAL. */
int tollbar_udp_arrive(tollbar_udp* member);

/* Advances without blocking: 0 when the episode is over, EAGAIN when it is not. Errors: EINVAL. */
int tollbar_udp_test(tollbar_udp* member);

/* Blocks until the episode is over. With TOLLBAR_TIMEOUT=S it names the missing ranks on stderr every S seconds.
 * Errors: EINVAL. */
int tollbar_udp_wait(tollbar_udp* member);

/* Blocks until the episode is over or the time has passed. After ETIMEDOUT tollbar_last_error() names the missing ranks
 * and the episode goes on; any wait or test may follow. Errors: EINVAL, ENOMEM, ETIMEDOUT. */
int tollbar_udp_wait_for(tollbar_udp* member, int64_t nanoseconds);

/* Enters the next episode and blocks until it is over. Errors: EINVAL. */
int tollbar_udp_arrive_and_wait(tollbar_udp* member);

/* Lists the ranks that are not known to have arrived in the current episode; none when it is over. Every wait that
 * lasts 10 ms asks the others. Errors: EINVAL, ENOMEM. */
int tollbar_udp_missing(const tollbar_udp* member, tollbar_missing* missing, size_t capacity, size_t* count);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
