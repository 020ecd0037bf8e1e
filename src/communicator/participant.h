/* SPDX-License-Identifier: Apache-2.0
 * One rank's part in the barrier of one communicator, for every door of MPI: any plan, by words where ranks share a
 * node and by messages where they do not; split phase; missing ranks are named. */
#ifndef TOLLBAR_COMMUNICATOR_PARTICIPANT_H
#define TOLLBAR_COMMUNICATOR_PARTICIPANT_H

#include "base/environment.h"
#include "transports/mpi/p2p.h"

#include <tollbar/tollbar.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The way in which ranks of one node meet. */
enum tollbar_sharing {
    TOLLBAR_SHARING_AUTO = 0, /* in shared memory, if it can be had */
    TOLLBAR_SHARING_NEVER = 1 /* by messages like everybody else */
};

/* The time by which a plan is chosen. */
enum tollbar_objective {
    TOLLBAR_OBJECTIVE_LATENCY = 0, /* last entry to last exit */
    TOLLBAR_OBJECTIVE_SKEW = 1,    /* first exit to last exit */
    TOLLBAR_OBJECTIVE_WAIT = 2     /* the mean time that ranks spend inside */
};

struct tollbar_mpi_options {
    /* A catalogue spelling over all ranks, "turnstile" (one word, all on one node), or "turnstile/OUTER": the ranks of
     * a node meet at a word, the first of each node runs OUTER; "turnstile/card:OUTER": its NIC runs OUTER.
     * NULL or "": TOLLBAR_PLAN, else chosen. */
    const char* plan;
    const char* plan_named_by; /* the setting that names `plan`, for refusals; NULL: "the plan" */
    const char* name;          /* of the communicator, for reports; may be NULL */
    const char* otherwise;     /* said, with TOLLBAR_VERBOSE=1, where the ranks decline; NULL: nothing is said */
    const char* mpi;           /* such as "openmpi-4.1.4", a key of the tuning file; may be NULL */
    const char* host;          /* ranks with different names share no memory; NULL: what gethostname(2) says */
    enum tollbar_sharing sharing;
    enum tollbar_objective objective;
    enum tollbar_network network;
    uint32_t all;     /* where a plan is chosen. 0: stored choice, else the best of some that are measured; 1: the best
                         of all candidates, whatever is stored */
    double budget_ms; /* for choosing; negative: 20 */
    double timeout_s; /* between reports of the missing ranks; 0: none; negative: TOLLBAR_TIMEOUT */
    uint32_t barriers_before; /* of this communicator, that reports count but this participant has not made */
    const void* call_site;    /* of the last of them, or NULL */
};

typedef struct tollbar_mpi_participant tollbar_mpi_participant;

/* Collective over the ranks of `p2p`, and a barrier of them: returns on no rank before every rank has called it, so
 * that joining in the first barrier of a communicator makes that barrier. Memory order: as arrive, then wait, for what
 * was sent or shared through its MPI. May take the budget. The options of rank 0 count; a rank that asked for
 * another plan is named on stderr by rank 0, and the choice is then tollbar's. Returns 0, or an errno value, on every
 * rank alike (the caller then uses what it had before); but EIO on a rank that cannot talk to the others, because the
 * MPI gave an error or memory is out, and that rank has to fail its barrier, as others may have been through it.
 * `p2p` is copied; its state must outlive the participant. */
int tollbar_mpi_join(const struct tollbar_p2p* p2p, const struct tollbar_mpi_options* options,
                     tollbar_mpi_participant** participant);

/* A rank that joins for a call that may not block, such as MPI_Ibarrier. */
typedef struct tollbar_mpi_joining tollbar_mpi_joining;

/* tollbar_mpi_join in pieces: promises the same, of ranks that all join in pieces, and does nothing by itself until
 * tollbar_mpi_go_on_joining. Plans are not tried and no NIC is used: where nothing was asked for and nothing is stored,
 * ranks of one node take the model's choice. Returns 0 or an errno value: ENOTSUP, on every rank alike, where this
 * C library has no way to do so. `p2p` is copied; its state and the texts of the options outlive the joining. */
int tollbar_mpi_begin_to_join(const struct tollbar_p2p* p2p, const struct tollbar_mpi_options* options,
                              tollbar_mpi_joining** joining);

enum tollbar_patience {
    TOLLBAR_NEVER_BLOCKS = 0, /* and does not call p2p->progress: the caller does in between */
    TOLLBAR_BLOCKS = 1        /* until it is over */
};

/* Goes on with it. Zero: it is not over. Else it is, `joining` is gone, and the other two are as tollbar_mpi_join
 * leaves them, `failed` its result; EAGAIN, on every rank alike: only tollbar_mpi_join would do, because plans have to
 * be tried or NICs are there. Memory order: as test. */
int tollbar_mpi_go_on_joining(tollbar_mpi_joining* joining, enum tollbar_patience patience, int* failed,
                              tollbar_mpi_participant** participant);

/* Local: a participant that has met nobody. All ranks run one plan by messages, whatever the options say, of which name
 * and timeout_s count. For episodes that may not wait until everybody has joined; to be left, or over, before the ranks
 * of `p2p` join. Returns 0 or an errno value. */
int tollbar_mpi_join_by_messages(const struct tollbar_p2p* p2p, const struct tollbar_mpi_options* options,
                                 tollbar_mpi_participant** participant);

/* Local. An episode that is under way is abandoned. */
void tollbar_mpi_leave(tollbar_mpi_participant* participant);

/* Enters the next episode and returns its number, from 1. Never blocks. Episodes may be entered before earlier ones
 * are over: they are queued here and begin, in order, inside later calls of arrive, test or wait. `call_site` (a return
 * address, or NULL) is kept for reports. Memory order: release of everything done before. */
uint64_t tollbar_mpi_arrive(tollbar_mpi_participant* participant, const void* call_site);

/* Nonzero when that episode is over, or has failed; goes on as far as possible without blocking. Does not call
 * p2p->progress. Memory order: acquire of everything any rank did before it arrived, when it is over. */
int tollbar_mpi_test(tollbar_mpi_participant* participant, uint64_t episode);

/* 0, or an errno value where the episode is not over and will never be; a rank that gets it has not been through the
 * barrier. EPIPE: the NIC of this rank's node runs the barrier no more; a line on stderr has said so. EIO: the
 * MPI gave an error for a message, here (p2p->error tells which) or on another rank of this node. Never blocks. */
int tollbar_mpi_failed(tollbar_mpi_participant* participant, uint64_t episode);

/* Blocks until it is over, calling p2p->progress meanwhile; the result is that of tollbar_mpi_failed. Memory order:
 * as test. */
int tollbar_mpi_wait(tollbar_mpi_participant* participant, uint64_t episode);

/* As wait, for `seconds` at most; zero when time ran out, and any wait or test may follow, or when it has failed. */
int tollbar_mpi_wait_for(tollbar_mpi_participant* participant, uint64_t episode, double seconds);

/* arrive, then wait. */
int tollbar_mpi_arrive_and_wait(tollbar_mpi_participant* participant, const void* call_site);

/* Passes the time between two looks of a wait that looks again and again, as a wait for a message does. `since_ns`
 * begins as 0. */
void tollbar_mpi_pass_time(int64_t* since_ns);

/* The plan that it runs, such as "turnstile", "turnstile/dissemination" or "turnstile/card:gather". Lives as long as
 * the participant. */
const char* tollbar_mpi_plan(const tollbar_mpi_participant* participant);

/* Nonzero when an arrived episode can end, as far as this rank is concerned, without further calls. */
int tollbar_mpi_needs_no_calls(const tollbar_mpi_participant* participant);

/* The number of this rank's node: the same for those, and only those, that share its memory. */
uint32_t tollbar_mpi_node(const tollbar_mpi_participant* participant);

/* Whether a rank may spin while it waits. */
enum tollbar_spinning {
    TOLLBAR_SPINNING_ALLOWED = 0, /* where the ranks of the node have a CPU each */
    TOLLBAR_SPINNING_NEVER = 1    /* its threads, or others, want the CPUs too */
};

/* From the next wait on. */
void tollbar_mpi_set_spinning(tollbar_mpi_participant* participant, enum tollbar_spinning spinning);

/* The missing ranks of the episode under way, as the report names them, into `text` (at most `size` bytes with the
 * final zero); returns the length it would have. */
size_t tollbar_mpi_missing(const tollbar_mpi_participant* participant, char* text, size_t size);

/* The same as a list, of which up to `capacity` members are written; returns the number of all. Hosts and processes of
 * other nodes, and the ranks behind other nodes' NICs, are known only where reports are wanted. */
size_t tollbar_mpi_list_missing(const tollbar_mpi_participant* participant, tollbar_missing* list, size_t capacity);

/* Reports the missing ranks for a caller that waits by testing, as a wait that has taken `waited_s` so far does. */
void tollbar_mpi_report(const tollbar_mpi_participant* participant, double waited_s);

#ifdef __cplusplus
}
#endif

#endif
