/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers between hosts that run on their NICs: the host starts an episode, and the NIC reports its end. Needs no
 * privilege, only the host's NIC daemon (`tollbar nic up`); without it the same barrier runs over UDP on the host.
 * Link with -ltollbar. */
#ifndef TOLLBAR_NIC_H
#define TOLLBAR_NIC_H

#include <tollbar/tollbar.h>

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* One rank of a group, used by one thread at a time. A process may be a member of many groups.
 *
 *     const char* hosts[] = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};
 *     const tollbar_nic_group group = {.key = KEY, .id = 1, .rank = rank, .ranks = 3, .hosts = hosts};
 *     tollbar_nic* member;
 *     tollbar_nic_join(&group, NULL, &member);
 *     ...
 *     tollbar_nic_arrive(member);
 *     ...compute...
 *     tollbar_nic_wait(member);
 *     ...
 *     tollbar_nic_leave(member);
 *
 * The conventions of tollbar.h hold: 0 or an errno value, output arguments last, a line in tollbar_last_error().
 *
 * Memory order: what a rank did before it arrived happens before any wait for, or successful test of, the same episode
 * returns, in every rank that shares its memory. */
typedef struct tollbar_nic tollbar_nic;

/* The group to join, and the rank of the member that joins. */
typedef struct tollbar_nic_group {
    uint8_t key[16]; /* random, not all zero, the same at all members of a job, different in each job. Keep it secret:
                      * whoever knows it can forge frames of a member. It is never sent. */
    uint32_t id;     /* number of the group in its job; a job uses a number once */
    uint32_t rank;   /* of this member, 0 <= rank < ranks */
    uint32_t ranks;  /* 1 to 16384; one member a NIC */
    const char* const* hosts; /* for each rank the IPv4 address of its NIC, such as "10.0.0.3"; all on one network */
} tollbar_nic_group;

/* All zero, or a NULL pointer to it, selects the defaults. */
typedef struct tollbar_nic_options {
    const char* plan;     /* a catalogue spelling of at most 16 steps a rank, "gather" (rank 0's NIC counts, up to 64
                           * ranks) or "switch" (the switch counts, up to 64 ranks); "card:" may stand in front. The same at
                           * all members. NULL or "": pairwise. */
    const char* daemon;   /* the daemon's socket. NULL or "": TOLLBAR_NICD, else /run/tollbar/nicd.sock */
    tollbar_wait wait;    /* auto: TOLLBAR_WAIT if set, else yields up to 16 times, then sleeps */
    int only_nic;         /* nonzero: fail if the NIC cannot be used, instead of falling back to UDP */
    uint64_t reserved[4]; /* zero */
} tollbar_nic_options;

/* Joins a group. Returns once this host's NIC is ready; the others may join later. If the NIC cannot be used and the
 * plan is one of the catalogue's, the member falls back to UDP (at a port that its key and number choose) and, with
 * TOLLBAR_VERBOSE=1, says why. Members with and without a NIC interoperate. Errors: EINVAL (numbers, hosts, plan, too
 * many steps, wait), EEXIST (this NIC has a member of that group of that job, or had one recently), EADDRNOTAVAIL (this
 * host does not have the address of its rank), EHOSTUNREACH (another rank's address is not on this network), ENOTSUP
 * (no NIC, with gather, switch or only_nic), EDQUOT and ENOSPC with only_nic (too many groups), ENOMEM and others of
 * set-up. */
int tollbar_nic_join(const tollbar_nic_group* group, const tollbar_nic_options* options, tollbar_nic** member);

/* Leaves the group. The NIC keeps answering the other members for a minute by default, also when the process ends
 * without this call. Errors: none. */
int tollbar_nic_leave(tollbar_nic* member);

/* Enters the next episode. Never blocks. Errors: EBUSY (the previous episode is not over), EPIPE (the daemon is
 * gone). */
int tollbar_nic_arrive(tollbar_nic* member);

/* 0 when the episode is over, EAGAIN when it is not. Never blocks. With a NIC it makes a system call only after the
 * retransmission timeout. Errors: as wait. */
int tollbar_nic_test(tollbar_nic* member);

/* Blocks until the episode is over. With TOLLBAR_TIMEOUT=S it names the missing ranks on stderr every S seconds.
 * Errors, with and without a NIC: EPIPE (the daemon is gone, and with it the programs on the NIC), ESTALE (the group
 * does not admit this member: another process was the same rank in it before), EPROTO (the group does not admit it, for
 * the member's plan, number of ranks or order of hosts differs). Only an authenticated answer to this very process
 * gives the last two, and no episode of the member will end: leave, and have all members join a group with another
 * number or key. The members that were admitted keep waiting for it, as for one that is missing. */
int tollbar_nic_wait(tollbar_nic* member);

/* As wait, for at most that time. After ETIMEDOUT the episode goes on; any wait or test may follow.
 * Errors: ETIMEDOUT, and as wait. */
int tollbar_nic_wait_for(tollbar_nic* member, int64_t nanoseconds);

/* Arrive and wait in one call. Errors: as arrive and wait. */
int tollbar_nic_arrive_and_wait(tollbar_nic* member);

/* Lists the ranks that have not arrived in this episode, as their NICs report within 20 ms; a NIC that does not answer
 * counts as not arrived. In groups of more than 64 ranks it lists only those that this NIC awaits. Errors: EINVAL,
 * ENOMEM. */
int tollbar_nic_missing(tollbar_nic* member, tollbar_missing* missing, size_t capacity, size_t* count);

/* The carrier of the signals, "nic" or "udp"; "" for NULL. */
const char* tollbar_nic_carrier(const tollbar_nic* member);

/* The plan's spelling, "gather" or "switch"; "" for NULL. Valid until leave. */
const char* tollbar_nic_plan(const tollbar_nic* member);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
