/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers between hosts that run on their network cards: a host starts one and is told when it is over. Needs no
 * right, but the daemon of the card (`tollbar nic up`); without it the same barrier runs over UDP on the host. */
#ifndef TOLLBAR_NIC_H
#define TOLLBAR_NIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One member of a group, used by one thread at a time; a process may have many, of different groups.
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
 * Functions return 0 or an errno value and leave a line in tollbar_last_error() (tollbar.h), except EAGAIN and
 * ETIMEDOUT, which are answers. Pointers must not be NULL unless said otherwise; where they are, the result is EINVAL.
 *
 * Memory order: what a rank did before it arrived is visible to every rank on hosts that share its memory whose wait
 * (or successful test) for the same episode has returned. */
typedef struct tollbar_nic tollbar_nic;

typedef struct tollbar_nic_group {
    uint64_t key;             /* random, not 0, the same at all members of a job, another in each job. A secret: who
                               * knows it can pretend to be a member. */
    uint32_t id;              /* tells the groups of a job apart; a job uses a number once */
    uint32_t rank;            /* of this member, 0 <= rank < ranks */
    uint32_t ranks;           /* up to 16384; a card has one member of a group */
    const char* const* hosts; /* of each rank, the IPv4 address of its card, "10.0.0.3"; all on one network */
} tollbar_nic_group;

/* All zero (or a NULL pointer to it) means: choose for me. */
typedef struct tollbar_nic_options {
    const char* plan;   /* a catalogue spelling of at most 16 steps a rank, "gather" (rank 0's card counts, up to 64
                         * ranks) or "switch" (the switch counts, up to 64 ranks). The same at all members. NULL or "":
                         * pairwise. */
    const char* daemon; /* its socket. NULL or "": TOLLBAR_NICD, else /run/tollbar/nicd.sock */
    const char* wait;   /* "auto" (looks and gives way a few times, then sleeps), "spin", "yield" or "park" (sleeps at
                         * once). NULL or "": TOLLBAR_WAIT */
    int only_card;      /* not 0: an error where the card cannot be had, not a barrier over UDP */
} tollbar_nic_options;

/* Takes a place in a group. Returns once this card is ready; the others may join later. Where the card cannot be had
 * and the plan is one of the catalogue's, the member uses UDP port 7777 instead, and with TOLLBAR_VERBOSE says so and
 * why; members with and without a card understand each other. Errors: EINVAL (numbers, hosts, plan, too many steps),
 * EEXIST (that group of that job has a member here already, or had one lately), EADDRNOTAVAIL (this host does not have
 * the address of its rank), EHOSTUNREACH (another's address is not on this network), ENOTSUP (no card, and gather or
 * switch, or only_card), EDQUOT and ENOSPC with only_card (too many groups), ENOMEM and others of set-up. */
int tollbar_nic_join(const tollbar_nic_group* group, const tollbar_nic_options* options, tollbar_nic** member);

/* Gives the place up. The card goes on answering the other members for a while, also when the process just ends. NULL
 * is allowed and does nothing. */
void tollbar_nic_leave(tollbar_nic* member);

/* Enters the next episode. Never blocks. Errors: EBUSY (the episode before is not over), EPIPE (the daemon is gone). */
int tollbar_nic_arrive(tollbar_nic* member);

/* 0 when the episode is over, EAGAIN when it is not. Never blocks; on a card it makes a system call
 * only when the episode lasts so long that a frame may be lost. Errors: EPIPE (the daemon is gone). */
int tollbar_nic_test(tollbar_nic* member);

/* Blocks until the episode is over. With TOLLBAR_TIMEOUT=S it says on stderr every S seconds who is missing.
 * Errors: EPIPE (the daemon is gone, and with it the programs on the card). */
int tollbar_nic_wait(tollbar_nic* member);

/* Waits at most so long. ETIMEDOUT: the episode goes on; wait again. Errors: as wait. */
int tollbar_nic_wait_for(tollbar_nic* member, int64_t nanoseconds);

int tollbar_nic_arrive_and_wait(tollbar_nic* member);

/* Who has not arrived in this episode, as their cards say; a card that does not answer counts as not arrived. Writes as
 * many of them as fit, in order; `count` gets how many there are. With more than 64 ranks only whom this card awaits.
 */
int tollbar_nic_missing(tollbar_nic* member, uint32_t* ranks, size_t capacity, size_t* count);

/* "card" or "udp"; "" for NULL. */
const char* tollbar_nic_carrier(const tollbar_nic* member);

/* The plan's spelling, "gather" or "switch"; "" for NULL. Valid until leave. */
const char* tollbar_nic_plan(const tollbar_nic* member);

#ifdef __cplusplus
}
#endif

#endif
