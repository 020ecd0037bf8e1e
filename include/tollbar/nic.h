/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers between hosts that run on their network cards: the host starts an episode, and the card reports its end.
 * Needs no privilege, only the host's NIC daemon (`tollbar nic up`); without it the same barrier runs over UDP on the
 * host. */
#ifndef TOLLBAR_NIC_H
#define TOLLBAR_NIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One rank of a group, used by one thread at a time. A process may be a member of many groups.
 *
 *     const char* hosts[] = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};
 *     const tollbar_nic_group group = {.key = key, .id = 1, .rank = rank, .ranks = 3, .hosts = hosts};
 *     tollbar_nic* member;
 *     tollbar_nic_join(&group, NULL, &member);
 *     ...
 *     tollbar_nic_arrive(member);
 *     ...compute...
 *     tollbar_nic_wait(member);
 *     ...
 *     tollbar_nic_leave(member);
 *
 * Functions return 0 or an errno value. A failed call leaves one line in tollbar_last_error() (tollbar.h); EAGAIN and
 * ETIMEDOUT are answers and leave none. A NULL pointer gives EINVAL unless the description allows it.
 *
 * Memory order: what a rank did before it arrived happens before any wait for, or successful test of, the same episode
 * returns, in every rank that shares its memory. */
typedef struct tollbar_nic tollbar_nic;

typedef struct tollbar_nic_group {
    uint64_t key;             /* random, not 0, the same at all members of a job, different in each job. Keep it
                               * secret: whoever knows it can forge frames of a member. It is never sent. */
    uint32_t id;              /* number of the group in its job; a job uses a number once */
    uint32_t rank;            /* of this member, 0 <= rank < ranks */
    uint32_t ranks;           /* 1 to 16384; one member a card */
    const char* const* hosts; /* for each rank the IPv4 address of its card, such as "10.0.0.3"; all on one network */
    uint64_t key_high;        /* the other half of a key of 128 bits; with 0 it has 64 */
} tollbar_nic_group;

/* All zero, or a NULL pointer to it, selects the defaults. */
typedef struct tollbar_nic_options {
    const char* plan;   /* a catalogue spelling of at most 16 steps a rank, "gather" (rank 0's card counts, up to 64
                         * ranks) or "switch" (the switch counts, up to 64 ranks); "card:" may stand in front. The same at
                         * all members. NULL or "": pairwise. */
    const char* daemon; /* the daemon's socket. NULL or "": TOLLBAR_NICD, else /run/tollbar/nicd.sock */
    const char* wait;   /* "auto" (yields up to 16 times, then sleeps), "spin", "yield" or "park" (sleeps at once).
                         * NULL or "": TOLLBAR_WAIT */
    int only_card;      /* nonzero: fail if the card cannot be used, instead of falling back to UDP */
} tollbar_nic_options;

/* Joins a group. Returns once this host's card is ready; the others may join later. If the card cannot be used and the
 * plan is one of the catalogue's, the member falls back to UDP (at a port that its key and number choose) and, with
 * TOLLBAR_VERBOSE=1, says why. Members with and without a card interoperate. Errors: EINVAL (numbers, hosts, plan, too
 * many steps), EEXIST (this card has a member of that group of that job, or had one recently), EADDRNOTAVAIL (this host
 * does not have the address of its rank), EHOSTUNREACH (another rank's address is not on this network), ENOTSUP (no
 * card, with gather, switch or only_card), EDQUOT and ENOSPC with only_card (too many groups), ENOMEM and others of
 * set-up. */
int tollbar_nic_join(const tollbar_nic_group* group, const tollbar_nic_options* options, tollbar_nic** member);

/* Leaves the group. The card keeps answering the other members for a minute by default, also when the process ends
 * without this call. NULL is allowed and does nothing. */
void tollbar_nic_leave(tollbar_nic* member);

/* Enters the next episode. Never blocks. Errors: EBUSY (the previous episode is not over), EPIPE (the daemon is
 * gone). */
int tollbar_nic_arrive(tollbar_nic* member);

/* 0 when the episode is over, EAGAIN when it is not. Never blocks. With a card it makes a system call only after the
 * retransmission timeout. Errors: as wait. */
int tollbar_nic_test(tollbar_nic* member);

/* Blocks until the episode is over. With TOLLBAR_TIMEOUT=S it names the missing ranks on stderr every S seconds.
 * Errors: EPIPE (the daemon is gone, and with it the programs on the card), ESTALE (the group does not admit this
 * member: another process was the same rank in it before), EPROTO (it does not, for the member's plan, number of ranks
 * or order of hosts differs), both with and without a card. Only an authenticated answer to this very process gives the
 * last two, and no episode of it will end: leave, and have all members join a group with another number or key. Who
 * was admitted keeps waiting for whoever was not, as for one that is missing. */
int tollbar_nic_wait(tollbar_nic* member);

/* As wait, for at most that time. After ETIMEDOUT the episode goes on; wait again. Errors: ETIMEDOUT, and as wait. */
int tollbar_nic_wait_for(tollbar_nic* member, int64_t nanoseconds);

/* Arrive and wait in one call. Errors: as arrive and wait. */
int tollbar_nic_arrive_and_wait(tollbar_nic* member);

/* Lists the ranks that have not arrived in this episode, as their cards report; a card that does not answer counts as
 * not arrived. Writes up to `capacity` of them to `ranks` in ascending order and their number to `*count`. In groups
 * of more than 64 ranks it lists only those that this card awaits. */
int tollbar_nic_missing(tollbar_nic* member, uint32_t* ranks, size_t capacity, size_t* count);

/* "card" or "udp"; "" for NULL. */
const char* tollbar_nic_carrier(const tollbar_nic* member);

/* The plan's spelling, "gather" or "switch"; "" for NULL. Valid until leave. */
const char* tollbar_nic_plan(const tollbar_nic* member);

#ifdef __cplusplus
}
#endif

#endif
