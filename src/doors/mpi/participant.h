/* SPDX-License-Identifier: Apache-2.0
 * One rank's part in the barrier of one communicator, for every door of MPI: any plan, by words where ranks share a
 * node and by messages where they do not; split phase; whoever is missing is named. */
#ifndef TOLLBAR_DOORS_MPI_PARTICIPANT_H
#define TOLLBAR_DOORS_MPI_PARTICIPANT_H

#include "transports/mpi/carrier.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How ranks of one node meet. */
enum tollbar_sharing {
    TOLLBAR_SHARING_AUTO = 0, /* in shared memory, if it can be had */
    TOLLBAR_SHARING_NEVER = 1 /* by messages like everybody else */
};

/* What to choose a plan by. */
enum tollbar_objective {
    TOLLBAR_OBJECTIVE_LATENCY = 0, /* last entry to last exit */
    TOLLBAR_OBJECTIVE_SKEW = 1,    /* first exit to last exit */
    TOLLBAR_OBJECTIVE_WAIT = 2     /* the mean of what the ranks spend inside */
};

/* By what nodes meet. */
enum tollbar_network {
    TOLLBAR_NETWORK_UNSAID = 0, /* as TOLLBAR_NETWORK says: auto, p2p or nic; else auto */
    TOLLBAR_NETWORK_AUTO = 1,   /* where a plan is chosen, by what is faster; else as the plan says */
    TOLLBAR_NETWORK_P2P = 2,    /* by the MPI's messages */
    TOLLBAR_NETWORK_NIC = 3     /* on the nodes' network cards; by messages where a node has none, which is said */
};

struct tollbar_mpi_options {
    /* A catalogue spelling over all ranks, "turnstile" (one word, all on one node), or "turnstile/OUTER": the ranks of
     * a node meet at a word, the first of each node runs OUTER; "turnstile/card:OUTER": its network card runs OUTER.
     * NULL or "": TOLLBAR_PLAN, else chosen. */
    const char* plan;
    const char* name; /* of the communicator, for reports; may be NULL */
    const char* mpi;  /* such as "openmpi-4.1.4", a key of the tuning file; may be NULL */
    const char* host; /* whoever gives another name shares no memory; NULL: what gethostname(2) says */
    enum tollbar_sharing sharing;
    enum tollbar_objective objective;
    enum tollbar_network network;
    uint32_t
        selection;    /* 0: stored choice, else measure and take the best; n: the n-th plan of the catalogue, from 1 */
    uint32_t radix;   /* 0: the default of the plan `selection` names; else its parameter */
    double budget_ms; /* what choosing may take; negative: 20 */
    double timeout_s; /* report who is missing after so long, and again; 0: never; negative: TOLLBAR_TIMEOUT */
    uint32_t barriers_before; /* of this communicator, that reports count but this participant has not made */
    const void* call_site;    /* of the last of them, or NULL */
};

typedef struct tollbar_mpi_participant tollbar_mpi_participant;

/* Collective over the carrier's ranks, and a barrier of them: returns on no rank before every rank has called it, so
 * that whoever joins in the first barrier of a communicator has made it. Memory order: as arrive, then wait, for what
 * was sent or shared through the carrier's MPI. May take the budget. The options of rank 0 count; a rank that asked for
 * another plan is named on stderr by rank 0, and the choice is then tollbar's. Returns 0, or an errno value, on every
 * rank alike (the caller then uses what it had before). The carrier is copied; its state must outlive the participant.
 */
int tollbar_mpi_join(const struct tollbar_carrier* carrier, const struct tollbar_mpi_options* options,
                     tollbar_mpi_participant** participant);

/* Local. An episode that is under way is abandoned. */
void tollbar_mpi_leave(tollbar_mpi_participant* participant);

/* Enters the next episode and returns its number, from 1. Never blocks. Episodes may be entered before earlier ones
 * are over: they are queued here and begin, in order, inside later calls of arrive, test or wait. `call_site` (a return
 * address, or NULL) is kept for reports. Memory order: release of everything done before. */
uint64_t tollbar_mpi_arrive(tollbar_mpi_participant* participant, const void* call_site);

/* Nonzero when that episode is over, or has failed; goes on as far as possible without blocking. Does not call
 * carrier->progress. Memory order: acquire of everything any rank did before it arrived, when it is over. */
int tollbar_mpi_test(tollbar_mpi_participant* participant, uint64_t episode);

/* 0, or EPIPE where the episode is not over and will never be, because the network card of this rank's node runs the
 * barrier no more; a line on stderr has said so. Whoever gets it has not been through the barrier. Never blocks. */
int tollbar_mpi_failed(tollbar_mpi_participant* participant, uint64_t episode);

/* Blocks until it is over, calling carrier->progress meanwhile; the result is that of tollbar_mpi_failed. Memory order:
 * as test. */
int tollbar_mpi_wait(tollbar_mpi_participant* participant, uint64_t episode);

/* As wait, for `seconds` at most; zero when time ran out, and any wait or test may follow, or when it has failed. */
int tollbar_mpi_wait_for(tollbar_mpi_participant* participant, uint64_t episode, double seconds);

/* arrive, then wait. */
int tollbar_mpi_arrive_and_wait(tollbar_mpi_participant* participant, const void* call_site);

/* What it runs, such as "turnstile", "turnstile/dissemination" or "turnstile/card:gather". Lives as long as the
 * participant. */
const char* tollbar_mpi_plan(const tollbar_mpi_participant* participant);

/* Nonzero when an arrived episode can end, as far as this rank is concerned, without further calls. */
int tollbar_mpi_needs_no_calls(const tollbar_mpi_participant* participant);

/* The number of this rank's node: the same for those, and only those, that share its memory. */
uint32_t tollbar_mpi_node(const tollbar_mpi_participant* participant);

/* How a rank behaves while it waits. */
enum tollbar_manners {
    TOLLBAR_MANNERS_USUAL = 0, /* as the ranks of the node and their CPUs suggest */
    TOLLBAR_MANNERS_POLITE = 1 /* as if there were too few CPUs: its threads, or others, want them too */
};

/* From the next wait on. By whoever uses the participant. */
void tollbar_mpi_set_manners(tollbar_mpi_participant* participant, enum tollbar_manners manners);

/* Who is missing in the episode under way, as the report says it, into `text` (at most `size` bytes with the final
 * zero); returns the length it would have. */
size_t tollbar_mpi_missing(const tollbar_mpi_participant* participant, char* text, size_t size);

/* For whoever waits by testing: says on stderr who is missing, as a wait that has taken `waited_s` so far does. */
void tollbar_mpi_report(const tollbar_mpi_participant* participant, double waited_s);

#ifdef __cplusplus
}
#endif

#endif
